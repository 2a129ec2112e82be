"""Fits files of growing length that are read anew at every pass, and prints time and memory: both grow as the docs say, or do not.

    cargo build --release -p barkeep-cli
    pip install numpy pyarrow
    python3 benchmarks/streaming/grow.py FOLDER [100000 1000000 …]

FOLDER gets the files, 20 bytes a record; those that are there are not written again. A logistic regression of six columns: a bool, two
categories, an integer and two reals. Records may take one megabyte, so every file is streamed, a stretch at a time.
"""

import pathlib
import resource
import shutil
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PROGRAM = pathlib.Path(__file__).parents[2] / "target/release/barkeep"
LENGTHS = (10**5, 10**6, 10**7, 10**8)
PIECE = 10**6
SITES = [f"s{site}" for site in range(8)]
COLUMNS = {
    "y": pa.bool_(),
    "arm": pa.dictionary(pa.int8(), pa.string()),
    "site": pa.dictionary(pa.int8(), pa.string()),
    "age": pa.int16(),
    "dose": pa.float64(),
    "time": pa.float64(),
}
SPEC = """[data]
path = "{path}"
records = {records}
memory = "1MB"
[data.columns]
y = {{ kind = "bool", invalid = false }}
arm = {{ kind = "category", levels = ["placebo", "drug"], invalid = "placebo" }}
site = {{ kind = "category", levels = {sites}, invalid = "s0" }}
age = {{ kind = "integer", min = 18, max = 90, invalid = 50, scale = "bounds" }}
dose = {{ min = 0, max = 1, invalid = 0.5, scale = "bounds" }}
time = {{ min = 0, max = 1, invalid = 0.5, scale = "bounds" }}
[model]
formula = "y ~ arm + site + age + dose + time"
family = "bernoulli"
[privacy]
epsilon = 1.0
delta = 1e-9
[sampler]
name = "noise-aware"
"""


def write(path, records):
    rng = np.random.default_rng(7)
    schema = pa.schema(list(COLUMNS.items()))
    with pq.ParquetWriter(path, schema, compression="snappy") as file:
        for start in range(0, records, PIECE):
            size = min(PIECE, records - start)
            arm, site = rng.integers(0, 2, size, dtype=np.int8), rng.integers(0, 8, size, dtype=np.int8)
            age, dose, moment = rng.integers(18, 91, size).astype(np.int16), rng.random(size), rng.random(size)
            predictor = -0.5 + 0.4 * arm + 0.1 * (site == 3) + 0.8 * (age - 54) / 36 + dose - 0.5 - 0.3 * (2 * moment - 1)
            response = rng.random(size) < 1 / (1 + np.exp(-predictor))
            levels = [pa.DictionaryArray.from_arrays(arm, ["placebo", "drug"]), pa.DictionaryArray.from_arrays(site, SITES)]
            file.write_table(pa.table([response, *levels, age, dose, moment], schema=schema), row_group_size=PIECE // 4)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    print("records, seconds, processor seconds, nanoseconds a record, peak MB, verdict")
    for records in [int(word) for word in sys.argv[2:]] or LENGTHS:
        path, out = folder / f"{records}.parquet", folder / f"{records}.out"
        if not path.exists():
            write(path.with_suffix(".part"), records)
            path.with_suffix(".part").rename(path)
        spec = folder / f"{records}.toml"
        sites = str(SITES).replace("'", '"')
        spec.write_text(SPEC.format(path=path.name, records=records, sites=sites))
        shutil.rmtree(out, ignore_errors=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        timed = ["/usr/bin/env", "time", "-f", "%e %M", str(PROGRAM), "sample", str(spec), "--out", str(out)]
        run = subprocess.run(timed, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds, peak = run.stderr.splitlines()[-1].split()
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        verdict = run.stdout.splitlines()[0].removeprefix("Verdict: ")
        print(f"{records}, {seconds}, {processor:.1f}, {processor / records * 1e9:.0f}, {int(peak) / 1000:.0f}, {verdict}", flush=True)


if __name__ == "__main__":
    main()
