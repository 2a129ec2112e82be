"""A canary in every record appears in nothing that barkeep says, leaves or raises."""

from __future__ import annotations

import datetime
import os
import pickle
import traceback
import warnings

import numpy as np
import pytest

import barkeep as bk

pytestmark = pytest.mark.filterwarnings("ignore::barkeep.NotToBeTrusted")

CANARY = "zq7canary"
NUMBER = 7_654_321.5
COUNT = 40
FEW = bk.Sampler("langevin", steps=5)


@pytest.fixture
def spec():
    schema = bk.Schema(
        late=bk.Bool(invalid=False),
        hour=bk.Integer(5, 23, invalid=12),
        origin=bk.Category(["EWR", "JFK"], invalid="EWR"),
    )
    return schema, bk.Model("late ~ hour + origin", family="bernoulli"), bk.Privacy(epsilon=20, delta=1e-3)


def shows_nothing(text: str) -> None:
    for canary in (CANARY, "7654321", "7_654_321", "7,654,321", "7.654"):
        assert canary not in text


def said(error: BaseException) -> str:
    """Everything an exception says, with what it came from."""
    parts = ["".join(traceback.format_exception(error)), repr(error), str(error), repr(error.args)]
    for other in (error.__cause__, error.__context__):
        if other is not None:
            parts.append(said(other))
    return "\n".join(parts)


def held(error: BaseException) -> str:
    """What the package's own functions hold when an exception leaves them, as tools show that print variables."""
    package = os.path.dirname(bk.__file__)
    shown, trace = [], error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(package):
            shown += [f"{name} = {value!r}" for name, value in trace.tb_frame.f_locals.items()]
        trace = trace.tb_next
    assert shown
    return "\n".join(shown)


class Speaks:
    """An object that tells what it is whenever it is asked."""

    def __repr__(self) -> str:
        return CANARY

    def __float__(self) -> float:
        raise ValueError(CANARY)

    def __index__(self) -> int:
        raise ValueError(CANARY)


class Fails:
    """A column that tells of a cell when it cannot be read."""

    def __len__(self) -> int:
        raise ValueError(CANARY)

    def __iter__(self):
        raise ValueError(CANARY)


def frames():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    good = {"late": [True] * COUNT, "hour": [NUMBER] * COUNT, "origin": [CANARY] * COUNT}
    day = datetime.date(1999, 1, 1)
    yield "pandas", pd.DataFrame(good)
    yield "polars", pl.DataFrame(good)
    yield "pyarrow", pa.table(good)
    yield "texts for numbers", pd.DataFrame({**good, "hour": [CANARY] * COUNT})
    yield "mixed objects", pd.DataFrame({**good, "hour": pd.Series([1, CANARY, NUMBER, None] * (COUNT // 4), dtype=object)})
    yield "own objects", pd.DataFrame({**good, "hour": pd.Series([Speaks() for _ in range(COUNT)], dtype=object)})
    yield "numbers for booleans", pd.DataFrame({**good, "late": [NUMBER] * COUNT})
    yield "nulls", pd.DataFrame({**good, "hour": [None] * COUNT})
    yield "null type", pa.table({**good, "hour": pa.nulls(COUNT)})
    yield "chunks", pa.concat_tables([pa.table(good).slice(0, 3), pa.table(good).slice(3)])
    yield "dictionaries", pa.table({**good, "origin": pa.array(good["origin"]).dictionary_encode()})
    yield "dates", pd.DataFrame({**good, "hour": pd.to_datetime(["1999-01-01"] * COUNT)})
    yield "date objects", pd.DataFrame({**good, "hour": [day] * COUNT})
    yield "arrow dates", pa.table({**good, "hour": pa.array([day] * COUNT)})
    yield "lists", pa.table({**good, "hour": [[NUMBER]] * COUNT})
    yield "structs", pl.DataFrame({**good, "hour": [{"a": CANARY}] * COUNT})
    yield "polars objects", pl.DataFrame({**good, "hour": pl.Series([Speaks() for _ in range(COUNT)], dtype=pl.Object)})
    yield "no rows", pd.DataFrame(good).iloc[:0]
    yield "too few rows", pd.DataFrame(good).iloc[1:]
    yield "too many rows", pl.concat([pl.DataFrame(good)] * 2)
    yield "a column missing", pd.DataFrame(good).drop(columns="hour")
    yield "a column named by a record", pd.DataFrame({**good}).rename(columns={"hour": CANARY})
    yield "a column twice", pd.concat([pd.DataFrame(good), pd.DataFrame(good)], axis=1)
    yield "broken texts", pd.DataFrame({**good, "origin": pd.Series([CANARY + "\ud800"] * COUNT, dtype=object)})
    yield "huge numbers", {**good, "hour": [10**400] * COUNT}
    yield "uneven", {**good, "hour": [NUMBER] * 3}
    yield "two dimensions", {**good, "hour": np.full((COUNT, 2), NUMBER)}
    yield "complex", {**good, "hour": np.full(COUNT, NUMBER + 1j)}
    yield "scalars of numpy", {**good, "hour": [np.float32(NUMBER), np.int64(7), np.bool_(True), np.str_(CANARY)] * (COUNT // 4)}
    yield "not a frame", object()
    yield "a frame that fails", {**good, "hour": Fails()}


REFUSED = {
    "dates": "dates or times",
    "arrow dates": "dates or times",
    "lists": "lists or records",
    "structs": "lists or records",
    "no rows": "holds another number of records",
    "too few rows": "holds another number of records",
    "too many rows": "holds another number of records",
    "a column missing": "has no such column",
    "a column named by a record": "has no such column",
    "a column twice": "twice",
    "uneven": "differ in their numbers of rows",
    "two dimensions": "lists or records",
    "complex": "complex numbers",
    "not a frame": "records are a pandas",
    "a frame that fails": "the columns of a dict are",
    "polars objects": "",
}


def test_the_canary_is_nowhere(spec, tmp_path, capfd):
    schema, model, privacy = spec
    for name, frame in frames():
        folder = tmp_path / name.replace(" ", "-")
        records = bk.Records(frame, schema, count=COUNT)
        shows_nothing(repr(records))
        with pytest.raises(TypeError) as refused:
            pickle.dumps(records)
        shows_nothing(said(refused.value))
        try:
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                fit = model.fit(records, privacy, FEW, folder=folder)
        except Exception as error:
            shows_nothing(said(error) + held(error))
            assert isinstance(error, bk.DataError) and name in REFUSED and REFUSED[name] in str(error), (name, error)
            assert not folder.exists(), "nothing was answered, so nothing is left"
            continue
        assert name not in REFUSED, name
        for each in heard:
            shows_nothing(str(each.message))
        shows_nothing(repr(fit) + repr(fit.summary()) + repr(fit.certificate) + fit.certificate.text + repr(fit.plan) + fit._repr_html_())
        for path in folder.rglob("*"):
            content = path.read_bytes()
            assert CANARY.encode() not in content and b"7654321" not in content, path
            shows_nothing(path.name)
    out, err = capfd.readouterr()
    shows_nothing(out + err)


def test_nothing_of_a_frame_is_looked_at_beyond_its_declared_columns(spec):
    """A column that is not declared may hold anything, and be of any type."""
    pd = pytest.importorskip("pandas")
    schema, model, privacy = spec
    frame = pd.DataFrame({"late": [True] * COUNT, "hour": 7, "origin": "EWR"})
    frame["diary"] = [Speaks() for _ in range(COUNT)]
    frame[17] = CANARY
    model.fit(bk.Records(frame, schema, count=COUNT), privacy, FEW, progress=False)


def test_values_never_decide_whether_a_frame_is_read(spec):
    """All kinds of cells in one column of objects: read, whatever they say."""
    schema, model, privacy = spec
    cells = [None, True, 7, 7.5, "7", b"7", float("nan"), 10**400, -(10**400), "", "x", Speaks(), datetime.date.today()]
    frame = {"late": cells, "hour": cells, "origin": cells}
    model.fit(bk.Records(frame, schema, count=len(cells)), privacy, FEW, progress=False)


class Liar:
    """An object that calls itself NumPy's, or a decimal number."""

    ran: list[str] = []

    def item(self):
        self.ran.append("item")
        return 7

    def __str__(self) -> str:
        self.ran.append("str")
        return "7"


class Text(str):
    """A text with code of its own."""

    def __str__(self) -> str:
        Liar.ran.append("text")
        return self


class Whole(int):
    """A number with code of its own."""

    def __lt__(self, other: object) -> bool:
        Liar.ran.append("whole")
        return True

    def __index__(self) -> int:
        Liar.ran.append("index")
        return 7


def test_no_foreign_objects_code_is_run(spec):
    schema, model, privacy = spec
    liars = [type("float64", (Liar,), {"__module__": module})() for module in ("numpy", "decimal")]
    cells = [*liars, Text("7"), Whole(10**30), np.float64(7), 7]
    frame = {"late": cells, "hour": cells, "origin": cells}
    model.fit(bk.Records(frame, schema, count=len(cells)), privacy, FEW, progress=False)
    assert Liar.ran == []


def test_files_are_found_by_their_names_only(spec, tmp_path):
    schema, model, privacy = spec
    (tmp_path / "secret.csv").write_text(f"late,hour\n{CANARY},1\n")
    with pytest.raises(bk.DataError) as refused:
        model.fit(bk.Records(tmp_path / "secret.csv", schema, count=1), privacy, FEW, progress=False)
    shows_nothing(said(refused.value))
    with pytest.raises(bk.DataError, match="there is no file"):
        model.fit(bk.Records(tmp_path / "none.csv", schema, count=1), privacy, FEW, progress=False)
    assert os.listdir(tmp_path) == ["secret.csv"]
