"""Prints what a question costs where records lie in Spark's partitions, beside the same fit in one process, in one run.

    pip install barkeep pyspark pyarrow          # and Java 17
    python3 benchmarks/shards/questions.py [records …]

Starts a local cluster of two executors with a core each, puts made-up trips into two and into eight partitions, cached, and fits the default
sampler: every question is one job. "A question" is the median over the fit's questions, the first left out: with it the executors start
their Python. "Bytes" are those of the question and of all partial sums it brings back. The draws are those of one process, or it stops.
"""

import os
import statistics
import sys
import time
import warnings

import barkeep as bk
import numpy as np
import pyarrow
from barkeep import _shards

SIZES = (10_000, 100_000, 1_000_000)
SAMPLER = bk.Sampler("noise-aware", steps=50, seed=3)
SCHEMA = bk.Schema(
    late=bk.Bool(invalid=False),
    hour=bk.Integer(5, 23, invalid=12),
    distance=bk.Real(0, 5000, invalid=1000, scale="bounds"),
    origin=bk.Category(["EWR", "JFK", "LGA"], invalid="EWR"),
)


def trips(records):
    rng = np.random.default_rng(1)
    return pyarrow.table(
        {
            "late": rng.random(records) < 0.3,
            "hour": rng.integers(5, 24, records),
            "distance": rng.uniform(100, 4000, records),
            "origin": np.array(["EWR", "JFK", "LGA"])[rng.integers(0, 3, records)],
        }
    )


def fitted(data, records):
    model = bk.Model("late ~ hour + distance + origin", family="bernoulli")
    start = time.perf_counter()
    fit = model.fit(
        bk.Records(data, SCHEMA, count=records), bk.Privacy(epsilon=1, delta=1e-6), SAMPLER, progress=False, insecure_seed=11
    )
    return np.concatenate(list(fit.draws.values())), time.perf_counter() - start


def watched(asked):
    """Notes the time and the bytes of every question."""
    plain = _shards.ask

    def ask(*arguments):
        inner = plain(*arguments)
        if inner is None:
            return None

        def timed(plan, question):
            start = time.perf_counter()
            partials = inner(plan, question)
            asked.append((time.perf_counter() - start, len(question), sum(len(partial) for partial in partials)))
            return partials

        return timed

    _shards.ask = ask


def main():
    warnings.simplefilter("ignore")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.execution.arrow.pyspark.enabled", "true").config("spark.driver.memory", "2g")
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    asked = []
    watched(asked)
    print("records, partitions, one process s, Spark s, questions, first question s, a question s, question bytes, partial bytes")
    for records in [int(word) for word in sys.argv[1:]] or SIZES:
        table = trips(records)
        expected, alone = fitted(table, records)
        for partitions in (2, 8):
            frame = spark.createDataFrame(table).repartition(partitions).cache()
            frame.count()
            asked.clear()
            draws, seconds = fitted(frame, records)
            assert np.array_equal(draws, expected), "the draws of one process"
            times, sent, back = (list(each) for each in zip(*asked, strict=True))
            print(
                f"{records}, {partitions}, {alone:.2f}, {seconds:.2f}, {len(times)}, {times[0]:.2f}, "
                f"{statistics.median(times[1:]):.2f}, {max(sent)}, {max(back)}",
                flush=True,
            )
            frame.unpersist()
    spark.stop()


if __name__ == "__main__":
    main()
