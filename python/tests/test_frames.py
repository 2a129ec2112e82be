"""Every frame gives the draws that the program gives on the same rows, to the bit."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import TRIPS, written

import barkeep as bk

pytestmark = pytest.mark.filterwarnings("ignore::barkeep.NotToBeTrusted")

SEED = 11
#: Few steps: what is compared is the records that were read.
FEW = bk.Sampler("langevin", steps=12)


def drawn(model: bk.Model, schema: bk.Schema, privacy: bk.Privacy, data, count: int = TRIPS, **options) -> np.ndarray:
    records = bk.Records(data, schema, count=count, **options)
    fit = model.fit(records, privacy, FEW, insecure_seed=SEED, progress=False, journal=False)
    return np.concatenate(list(fit.draws.values()))


@pytest.fixture(scope="module")
def expected(trips, schema, model, privacy, tmp_path_factory) -> np.ndarray:
    """What the program draws from the rows' CSV file."""
    folder = tmp_path_factory.mktemp("program")
    written(trips, str(folder / "trips.csv"))
    records = bk.Records(folder / "trips.csv", schema, count=TRIPS)
    spec = model._planned(records, privacy, FEW).spec
    (folder / "spec.toml").write_text(spec)
    subprocess.run(
        [sys.executable, "-m", "barkeep", "sample", folder / "spec.toml", "--out", folder / "out", "--insecure-seed", str(SEED)],
        check=False,
        capture_output=True,
    )
    lines = (folder / "out" / "draws.csv").read_text().splitlines()
    rows = np.array([[float(cell) for cell in line.split(",")[3:]] for line in lines[1:]])
    warm = np.array([line.split(",")[2] == "false" for line in lines[1:]])
    return rows[warm].T


def pandas_frames(trips):
    pd = pytest.importorskip("pandas")
    plain = pd.DataFrame(trips)
    yield "pandas", plain
    yield "pandas objects", plain.astype(object)
    yield "pandas categories", plain.assign(origin=plain["origin"].astype("category"))
    yield "pandas nullable", plain.convert_dtypes()
    yield "pandas floats", plain.assign(late=plain["late"].astype(float), hour=plain["hour"].astype("float64"))
    yield "pandas text", plain.astype(str)
    yield "pandas reversed columns", plain[plain.columns[::-1]]
    yield "pandas rows anywhere in memory", pd.concat([plain, plain]).iloc[TRIPS:]


def arrow_frames(trips):
    pa = pytest.importorskip("pyarrow")
    table = pa.table(trips)
    yield "pyarrow", table
    yield "pyarrow chunks", pa.concat_tables([table.slice(0, 17), table.slice(17, 0), table.slice(17, 1500), table.slice(1517)])
    yield "pyarrow reader", table.to_reader(max_chunksize=100)
    for text in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()), pa.binary()):
        place = table.schema.get_field_index("origin")
        yield f"pyarrow {text}", table.set_column(place, "origin", table["origin"].cast(pa.string()).cast(text) if text != pa.string_view() else table["origin"].cast(text))
    place = table.schema.get_field_index("hour")
    for whole in (pa.int8(), pa.int32(), pa.uint16(), pa.float32(), pa.decimal128(22, 3), pa.string()):
        yield f"pyarrow {whole}", table.set_column(place, "hour", table["hour"].cast(whole))


def polars_frames(trips):
    pl = pytest.importorskip("polars")
    plain = pl.DataFrame(trips)
    yield "polars", plain
    yield "polars categories", plain.with_columns(pl.col("origin").cast(pl.Categorical))
    yield "polars enum", plain.with_columns(pl.col("origin").cast(pl.Enum(["BOS", "EWR", "JFK", "LGA"])))
    yield "polars chunks", pl.concat([plain[:11], plain[11:]], rechunk=False)


def duckdb_frames(trips):
    duckdb = pytest.importorskip("duckdb")
    pa = pytest.importorskip("pyarrow")
    rows = pa.table(trips)  # noqa: F841, found by its name
    yield "duckdb", duckdb.sql("select * from rows")


@pytest.mark.parametrize("frames", [pandas_frames, arrow_frames, polars_frames, duckdb_frames])
def test_frames_give_what_the_program_gives(frames, trips, schema, model, privacy, expected):
    for name, frame in frames(trips):
        assert np.array_equal(drawn(model, schema, privacy, frame), expected), name


def test_dicts_of_arrays_and_lists_give_what_the_program_gives(trips, schema, model, privacy, expected):
    assert np.array_equal(drawn(model, schema, privacy, trips), expected)
    lists = {name: column.tolist() for name, column in trips.items()}
    assert np.array_equal(drawn(model, schema, privacy, lists), expected)


def test_files_give_what_the_program_gives(trips, schema, model, privacy, expected, tmp_path):
    path = written(trips, str(tmp_path / "trips.csv"))
    assert np.array_equal(drawn(model, schema, privacy, path), expected)
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    pa.parquet.write_table(pa.table(trips), tmp_path / "trips.parquet")
    assert np.array_equal(drawn(model, schema, privacy, tmp_path / "trips.parquet"), expected)


def test_several_files_are_one_set_of_records(trips, schema, model, privacy, expected, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    part = lambda first, last: {name: column[first:last] for name, column in trips.items()}  # noqa: E731
    paths = [tmp_path / "a.csv", tmp_path / "b.parquet", tmp_path / "c.parquet"]
    written(part(0, 1000), str(paths[0]))
    pa.parquet.write_table(pa.table(part(1000, 1001)), paths[1])
    pa.parquet.write_table(pa.table(part(1001, TRIPS)), paths[2])
    assert np.array_equal(drawn(model, schema, privacy, paths), expected)
    paths.append(written(part(0, 0), str(tmp_path / "none.csv")))
    assert np.array_equal(drawn(model, schema, privacy, paths), expected)
    for wrong in (paths[:2], paths[:1] * 4, [*paths, paths[1]]):
        with pytest.raises(bk.DataError, match="holds another number of records"):
            drawn(model, schema, privacy, wrong)
    with pytest.raises(bk.DataError, match="must name a file"):
        drawn(model, schema, privacy, [])
    with pytest.raises(bk.DataError, match="no file"):
        drawn(model, schema, privacy, [*paths, tmp_path / "missing.csv"])


def test_bad_cells_are_read_as_the_file_of_the_same_rows(trips, schema, model, privacy, tmp_path):
    """Missing and unreadable cells change the types of frames, and nothing else."""
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    frame = pd.DataFrame(trips)
    holes = frame.astype(object)
    holes.iloc[::7, 0] = None
    holes.iloc[::5, 1] = None
    holes.iloc[::11, 2] = None
    holes.iloc[::3, 3] = None
    path = tmp_path / "holes.csv"
    holes.to_csv(path, index=False)
    expected = drawn(model, schema, privacy, path)
    read = pd.read_csv(path)
    assert str(read["hour"].dtype) == "float64"
    others = {
        "objects": holes,
        "as pandas reads it": read,
        "nullable": holes.convert_dtypes(),
        "polars": pl.read_csv(path),
        "arrow": pl.read_csv(path).to_arrow(),
        "not a number": holes.assign(distance=holes["distance"].astype(float)),
    }
    for name, other in others.items():
        assert np.array_equal(drawn(model, schema, privacy, other), expected), name
    # A text among numbers: a column of objects, of which one cell is invalid.
    mixed, missing = holes.copy(), holes.copy()
    mixed.iloc[1, 1] = "late in the evening"
    missing.iloc[1, 1] = None
    assert np.array_equal(drawn(model, schema, privacy, mixed), drawn(model, schema, privacy, missing))


def test_persons_give_what_the_program_gives(trips, schema, model, privacy, tmp_path):
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    who = np.arange(TRIPS) // 3
    frame = {**trips, "who": who}
    path = written(frame, str(tmp_path / "trips.csv"))
    options = {"count": TRIPS // 3, "person": "who", "most_rows": 2}
    expected = drawn(model, schema, privacy, path, **options)
    for data in (pd.DataFrame(frame), pl.DataFrame(frame), pd.DataFrame(frame).astype({"who": str}), frame):
        assert np.array_equal(drawn(model, schema, privacy, data, **options), expected)
    # As floats, identifiers beyond 2^53 would merge; so would numbers of Python's that are larger than a word.
    for floats in (pd.DataFrame(frame).astype({"who": float}), {**frame, "who": who.astype(np.float32)}):
        with pytest.raises(bk.DataError, match="floating-point numbers"):
            drawn(model, schema, privacy, floats, **options)
    large = {**frame, "who": [2**70 + int(place) for place in who]}
    assert np.array_equal(drawn(model, schema, privacy, large, **options), expected)
    with pytest.raises(bk.DataError, match="names another number of persons"):
        drawn(model, schema, privacy, frame, **{**options, "count": 777})


def test_the_number_of_records_may_be_secret(trips, schema, model):
    privacy = bk.Privacy(epsilon=1, delta=1e-6, neighbours="add-remove")
    records = bk.Records(trips, schema, count=2500)
    sampler = bk.Sampler("barker", start=[0.0] * 5, proposal_sd=0.05, clip=0.1, steps=20)
    fit = model.fit(records, privacy, sampler, progress=False)
    # As a number of its own: the digits of a standard error may hold it by chance.
    assert fit.certificate["neighbours"] == "add-remove" and not re.search(rf"(?<![\d.]){TRIPS}(?!\d)", repr(fit))


def test_a_lazy_frame_is_to_be_collected_first(schema, model, privacy):
    pl = pytest.importorskip("polars")
    with pytest.raises(bk.DataError, match="collect"):
        model.fit(bk.Records(pl.LazyFrame({"late": [True]}), schema, count=1), privacy, progress=False)


@pytest.mark.skipif("BARKEEP_SLOW" not in os.environ, reason="a measurement: BARKEEP_SLOW=1 pytest -s -k two_million")
def test_two_million_rows_of_ten_columns(privacy):
    import time

    names = [f"x{place}" for place in range(10)]
    rng = np.random.default_rng(1)
    frame = {name: rng.normal(size=2_000_000) for name in names}
    schema = bk.Schema({name: bk.Real(-5, 5, invalid=0) for name in names})
    model = bk.Model(name="gaussian", covariance=np.eye(10).tolist())
    frames = {"dict": frame}
    for library in ("pandas", "polars", "pyarrow"):
        module = pytest.importorskip(library)
        frames[library] = (module.table if library == "pyarrow" else module.DataFrame)(frame)
    for name, data in frames.items():
        records = bk.Records(data, schema, count=2_000_000)
        plan = model._planned(records, privacy, bk.Sampler("langevin", start=[0.0] * 10, steps=1))
        began = time.perf_counter()
        bk._fit.run(plan, records, folder=None, progress=False, journal=False, insecure_seed=1, sign=None)
        print(f"{name}: {time.perf_counter() - began:.2f} s with one step")
