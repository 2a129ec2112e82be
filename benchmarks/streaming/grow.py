"""Fits files of growing length that are read anew at every pass, and prints time and memory: both grow as the docs say, or do not.

    cargo build --release -p barkeep-cli
    pip install numpy pyarrow
    python3 benchmarks/streaming/grow.py FOLDER [--persons together|apart] [--memory 1MB] [100000 1000000 …]

FOLDER gets the files, 20 bytes a record; those that are there are not written again. A logistic regression of six columns: a bool, two
categories, an integer and two reals. Records may take one megabyte, so every file is streamed, a stretch at a time. With --persons four rows
are one person's: they stand together, or as far apart as they can.
"""

import argparse
import pathlib
import resource
import shutil
import subprocess

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
ROWS = 4
SPEC = """[data]
path = "{path}"
{count}
memory = "{memory}"
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


def write(path, records, persons=None):
    rng = np.random.default_rng(7)
    schema = pa.schema([*COLUMNS.items(), *([("who", pa.int64())] if persons else [])])
    with pq.ParquetWriter(path, schema, compression="snappy") as file:
        for start in range(0, records, PIECE):
            size = min(PIECE, records - start)
            arm, site = rng.integers(0, 2, size, dtype=np.int8), rng.integers(0, 8, size, dtype=np.int8)
            age, dose, moment = rng.integers(18, 91, size).astype(np.int16), rng.random(size), rng.random(size)
            predictor = -0.5 + 0.4 * arm + 0.1 * (site == 3) + 0.8 * (age - 54) / 36 + dose - 0.5 - 0.3 * (2 * moment - 1)
            response = rng.random(size) < 1 / (1 + np.exp(-predictor))
            levels = [pa.DictionaryArray.from_arrays(arm, ["placebo", "drug"]), pa.DictionaryArray.from_arrays(site, SITES)]
            row = np.arange(start, start + size)
            who = {None: [], "together": [row // ROWS], "apart": [row % -(-records // ROWS)]}[persons]
            table = pa.table([response, *levels, age, dose, moment, *who], schema=schema)
            file.write_table(table, row_group_size=PIECE // 4)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("records", type=int, nargs="*", default=LENGTHS)
    parser.add_argument("--persons", choices=["together", "apart"])
    parser.add_argument("--memory", default="1MB")
    asked = parser.parse_intermixed_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    print("records, seconds, processor seconds, nanoseconds a record, peak MB, verdict")
    for records in asked.records:
        name = str(asked.folder / f"{records}") + (f"-{asked.persons}" if asked.persons else "")
        path, out, spec = [pathlib.Path(f"{name}.{ending}") for ending in ("parquet", "out", "toml")]
        if not path.exists():
            write(path.with_suffix(".part"), records, asked.persons)
            path.with_suffix(".part").rename(path)
        count = f"records = {records}"
        if asked.persons:
            count = f'person = "who"\npersons = {-(-records // ROWS)}\nmost_rows = {ROWS}'
        sites = str(SITES).replace("'", '"')
        spec.write_text(SPEC.format(path=path.name, count=count, memory=asked.memory, sites=sites))
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
