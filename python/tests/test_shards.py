"""Records in shards give the draws of one table, to the bit: by an engine of this test's own, by Spark and by Ray."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time

import numpy as np
import pytest
from conftest import TRIPS

import barkeep as bk
from barkeep import _barkeep, _shards

pytestmark = pytest.mark.filterwarnings("ignore::barkeep.NotToBeTrusted")
pyarrow = pytest.importorskip("pyarrow")

FEW = bk.Sampler("noise-aware", steps=50, seed=3)


def drawn(model, schema, privacy, data, **options):
    options = {"count": TRIPS, **options}
    fit = model.fit(bk.Records(data, schema, **options), privacy, FEW, progress=False, insecure_seed=11)
    return draws(fit)


def draws(fit):
    return np.concatenate(list(fit.draws.values()))


class Engine:
    """Shards of a table in this process; what it does with them is each test's."""

    def __init__(self, trips, names, cuts):
        table = pyarrow.table({name: trips[name] for name in names})
        edges = [0, *cuts, table.num_rows]
        self.names = names
        self.shards = [table.slice(start, end - start) for start, end in zip(edges, edges[1:], strict=False)]
        self.questions = 0

    def places(self):
        return list(enumerate(self.shards))

    def __call__(self, plan, question):
        self.questions += 1
        found = [_shards.answer(plan, question, place, self.names, iter(shard.to_batches())) for place, shard in self.places()]
        return _shards._answers(found)


@pytest.fixture
def engine(trips, schema, monkeypatch):
    """Takes a dict under the name `sharded` for a cluster's frame."""

    def build(cls=Engine, cuts=(700, 700, 2100)):
        made = cls(trips, list(schema._columns), cuts)
        monkeypatch.setattr(_shards, "ask", lambda data, wanted, person: made if data is made else None)
        return made

    return build


def test_shards_of_any_size_give_one_tables_draws(trips, schema, model, privacy, engine):
    expected = drawn(model, schema, privacy, trips)
    for cuts in ((), (1,), (700, 700, 2100), (0, 3000)):
        shards = engine(cuts=cuts)
        assert np.array_equal(drawn(model, schema, privacy, shards), expected), cuts
        assert shards.questions > 5


def test_persons_in_shards_give_one_tables_draws(trips, schema, model, privacy, monkeypatch):
    frame = {**trips, "who": np.arange(TRIPS) % 1000}
    options = {"count": 1000, "person": "who", "most_rows": 2}
    expected = drawn(model, schema, privacy, frame, **options)

    class ByPerson(Engine):
        """All rows of a person in one shard, in the order of the file."""

        def __init__(self):
            self.names, self.questions = [*schema._columns, "who"], 0
            table = pyarrow.table({name: frame[name] for name in self.names})
            self.shards = [table.filter(pyarrow.array(frame["who"] % 3 == place)) for place in range(3)]

    shards = ByPerson()
    monkeypatch.setattr(_shards, "ask", lambda data, wanted, person: shards if data is shards else None)
    assert np.array_equal(drawn(model, schema, privacy, shards, **options), expected)
    # A person in two shards is counted twice.
    shards.shards[0], shards.shards[1] = shards.shards[0].slice(0, 500), pyarrow.concat_tables([shards.shards[1], shards.shards[0].slice(500)])
    with pytest.raises(bk.Error, match="in all shards together"):
        drawn(model, schema, privacy, shards, **options)


class Doubled(Engine):
    def places(self):
        return [*super().places(), (1, self.shards[1])]


class Lost(Engine):
    def places(self):
        return super().places()[1:]


class LostLater(Engine):
    def places(self):
        return super().places()[1:] if self.questions > 3 else super().places()


class OtherColumns(Engine):
    def __init__(self, trips, names, cuts):
        super().__init__(trips, names, cuts)
        self.shards[0] = self.shards[0].rename_columns(["late", "hour", "origin", "weight"])


class OtherPlan(Engine):
    def __call__(self, plan, question):
        return super().__call__(plan + b"\n# of another driver", question)


@pytest.mark.parametrize("cls, words", [(OtherPlan, "another"), (Doubled, "twice"), (Lost, "in all shards together"), (OtherColumns, "distance")])
def test_shards_that_are_wrong_are_refused_before_anything_is_charged(schema, model, privacy, engine, tmp_path, cls, words):
    shards = engine(cls)
    with pytest.raises(bk.Error, match=words):
        model.fit(bk.Records(shards, schema, count=TRIPS), privacy, FEW, progress=False, folder=tmp_path / "run")
    assert shards.questions == 1 and not (tmp_path / "run").exists()


def test_a_shard_lost_in_the_middle_stops_the_run_and_its_journal_goes_on(trips, schema, model, privacy, engine, tmp_path):
    expected = drawn(model, schema, privacy, trips)
    folder = tmp_path / "run"
    with pytest.raises(bk.Error, match="not those that were counted"):
        lost = bk.Records(engine(LostLater), schema, count=TRIPS)
        model.fit(lost, privacy, FEW, progress=False, folder=folder, insecure_seed=11)
    fit = bk.resume(folder, bk.Records(engine(), schema, count=TRIPS), progress=False)
    assert np.array_equal(draws(fit), expected)


def test_what_an_engine_raises_is_not_repeated(schema, model, privacy, engine):
    class Quoting(Engine):
        def __call__(self, plan, question):
            raise RuntimeError("row 17 says 4711-canary")

    with pytest.raises(bk.Error) as caught:
        model.fit(bk.Records(engine(Quoting), schema, count=TRIPS), privacy, FEW, progress=False)
    assert "canary" not in repr(caught.value) and "did not answer" in str(caught.value)


def test_a_worker_of_another_plan_is_refused(trips, schema, model):
    plan = model.plan(schema, TRIPS, bk.Privacy(1, 1e-6), FEW)._plan
    table = pyarrow.table({name: trips[name] for name in schema._columns})
    with pytest.raises(bk.Error):
        _barkeep.partial(plan.toml().encode(), b"no question", 0, table)


@pytest.fixture(scope="module")
def spark():
    pyspark = pytest.importorskip("pyspark.sql", reason="pip install pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java 17")
    import sys

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        pyspark.SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.task.maxFailures", "8")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def test_spark_gives_one_tables_draws(trips, schema, model, privacy, spark):
    import pandas as pd

    expected = drawn(model, schema, privacy, trips)
    frame = spark.createDataFrame(pd.DataFrame(trips)).repartition(3).cache()
    assert np.array_equal(drawn(model, schema, privacy, frame), expected)


def test_spark_brings_the_rows_of_a_person_together(trips, schema, model, privacy, spark):
    import pandas as pd

    rows = {**trips, "who": np.arange(TRIPS) % 1000}
    options = {"count": 1000, "person": "who", "most_rows": 5}
    expected = drawn(model, schema, privacy, rows, **options)
    found = drawn(model, schema, privacy, spark.createDataFrame(pd.DataFrame(rows)).repartition(3), **options)
    # A shuffle may turn rows of a person around, and floats add up a little otherwise then.
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-9)
    # Blanks around an identifier are no part of it: a person whose rows are written in two ways is in one partition all the same.
    blank = {**rows, "who": [f"{' ' * (i // 1000 % 2)}{i % 1000}" for i in range(TRIPS)]}
    found = drawn(model, schema, privacy, spark.createDataFrame(pd.DataFrame(blank)).repartition(8), **options)
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-9)
    floats = {**rows, "who": rows["who"].astype(float)}
    with pytest.raises(bk.DataError, match="floating-point numbers"):
        drawn(model, schema, privacy, spark.createDataFrame(pd.DataFrame(floats)), **options)


def killing(program: bytes, word: bytes, delay: float, killed: list[str]) -> threading.Thread:
    """After a while, kills the first process of this program that has this word among its arguments."""

    def found() -> str | None:
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    called, *arguments = file.read().split(b"\0")
            except OSError:
                continue
            if program in called and (not word or word in arguments):
                return pid
        return None

    def kill() -> None:
        time.sleep(delay)
        for _ in range(2000):
            pid = found()
            if pid is not None:
                os.kill(int(pid), signal.SIGKILL)
                killed.append(pid)
                return
            time.sleep(0.01)

    killer = threading.Thread(target=kill)
    killer.start()
    return killer


def test_an_executor_of_spark_that_is_killed_changes_no_bit(trips, schema, model, privacy, spark):
    import pandas as pd

    expected = drawn(model, schema, privacy, trips)
    frame = spark.createDataFrame(pd.DataFrame(trips)).repartition(3)
    killed: list[str] = []
    killer = killing(b"java", b"org.apache.spark.executor.CoarseGrainedExecutorBackend", 2, killed)
    assert np.array_equal(drawn(model, schema, privacy, frame), expected)
    killer.join()
    assert killed


@pytest.fixture(scope="module")
def cluster():
    ray = pytest.importorskip("ray", reason="pip install 'ray[data]'")
    pytest.importorskip("ray.data")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


def test_ray_gives_one_tables_draws(trips, schema, model, privacy, cluster):
    expected = drawn(model, schema, privacy, trips)
    dataset = cluster.data.from_arrow(pyarrow.table({name: trips[name] for name in schema._columns}))
    assert np.array_equal(drawn(model, schema, privacy, dataset.repartition(3)), expected)


def test_a_worker_of_ray_that_is_killed_changes_no_bit(trips, schema, model, privacy, cluster):
    expected = drawn(model, schema, privacy, trips)
    dataset = cluster.data.from_arrow(pyarrow.table({name: trips[name] for name in schema._columns})).repartition(3)
    killed: list[str] = []
    killer = killing(b"ray::answered", b"", 0, killed)
    assert np.array_equal(drawn(model, schema, privacy, dataset), expected)
    killer.join()
    assert killed


def test_ray_brings_the_rows_of_a_person_together(trips, schema, model, privacy, cluster):
    rows = {**{name: trips[name] for name in schema._columns}, "who": np.arange(TRIPS) % 1000}
    options = {"count": 1000, "person": "who", "most_rows": 5}
    expected = drawn(model, schema, privacy, rows, **options)
    found = drawn(model, schema, privacy, cluster.data.from_arrow(pyarrow.table(rows)).repartition(3), **options)
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-9)
    blank = {**rows, "who": [f"{' ' * (i // 1000 % 2)}{i % 1000}" for i in range(TRIPS)]}
    found = drawn(model, schema, privacy, cluster.data.from_arrow(pyarrow.table(blank)).repartition(8), **options)
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_identifiers_are_canonical_before_a_shuffle():
    rows = pyarrow.table({"who": [" 0", "0", None, "0 ", "a b"], "x": [1, 2, 3, 4, 5]})
    assert _shards.identified(rows, "who")["who"].to_pylist() == ["0", "0", "", "0", "a b"]
    whole = pyarrow.table({"who": [2**53, 2**53 + 1, None]})
    assert _shards.identified(whole, "who")["who"].to_pylist() == [str(2**53), str(2**53 + 1), ""]
    batch = rows.to_batches()[0]
    assert _shards.identified(batch, "who").schema.field("who").type == pyarrow.string()
    with pytest.raises(bk.DataError, match="floating-point numbers"):
        _shards.identified(pyarrow.table({"who": [1.0]}), "who")
