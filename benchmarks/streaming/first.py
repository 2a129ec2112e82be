"""Prints how long it takes from the program's start to the end of a run of one step, over a Parquet file of a million records.

    cargo build --release -p barkeep-cli
    pip install numpy pyarrow
    python3 benchmarks/streaming/first.py FOLDER [records [times]]

FOLDER gets the file, that of grow.py. The columns are kept in memory: what is timed is the start, planning, reading, one question of a
chain and writing the run. Median, least and most of 11 runs, by the clock and by the processor.
"""

import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import time

from grow import PROGRAM, SITES, SPEC, write


def main():
    folder, records = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10**6
    times = int(sys.argv[3]) if len(sys.argv) > 3 else 11
    folder.mkdir(parents=True, exist_ok=True)
    path, out, spec = folder / f"{records}.parquet", folder / "first.out", folder / "first.toml"
    if not path.exists():
        write(path.with_suffix(".part"), records)
        path.with_suffix(".part").rename(path)
    sites = str(SITES).replace("'", '"')
    text = SPEC.format(path=path.name, count=f"records = {records}", memory="1MB", sites=sites).replace('memory = "1MB"\n', "")
    text = text.replace('name = "noise-aware"', f'name = "barker"\nsteps = 1\nproposal_sd = 0.01\nclip = 0.1\nstart = {[0.0] * 12}')
    spec.write_text(text)
    clock, processor = [], []
    for _ in range(times):
        shutil.rmtree(out, ignore_errors=True)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([str(PROGRAM), "sample", str(spec), "--out", str(out)], capture_output=True)
        clock.append(time.perf_counter() - start)
        # One draw is not to be trusted, and the program says so; it is written nevertheless.
        assert (out / "draws.csv").exists()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    print("records, of the clock s, least, most, of the processor s")
    print(f"{records}, {statistics.median(clock):.3f}, {min(clock):.3f}, {max(clock):.3f}, {statistics.median(processor):.3f}")


if __name__ == "__main__":
    main()
