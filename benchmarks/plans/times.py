"""Times `barkeep plan` at the thesis' settings: every model, every sampler it is published with and ours, every budget.

    cargo build --release
    python3 benchmarks/plans/times.py target/release/barkeep [--only TEXT] [--repeats 3]

Prints the least processor time of a plan over its repeats, start of the program included, and at the end the median and the largest
for each sampler. No file of records is there, and none is read.
"""

import argparse
import pathlib
import resource
import statistics
import subprocess
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
THESIS = ROOT / "experiments" / "specs" / "thesis"
# Samplers the thesis does not have, or not at this level. Tests of proposals take its step and clip for DP penalty.
OURS = ("langevin", "underdamped", "dpvi", "noise-aware")
TESTS = ("barker", "lazy-barker", "barker-corrected")
BATCH = 1000


def inline(value):
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value)


def spec(model, section, epsilon):
    dimension, records = model["dimension"], model["records"]
    # A record of the circle is one number, of the others as many as there are parameters.
    width = 1 if model["name"] == "circle" else dimension
    columns = "\n".join(f"x{i + 1} = {{ min = -1000, max = 1000, invalid = 0 }}" for i in range(width))
    section = {"start": [0.0] * dimension} | section
    keys = "\n".join(f"{key} = {inline(value)}" for key, value in section.items())
    return (
        f"[data]\npath = 'none.csv'\nrecords = {records}\n[data.columns]\n{columns}\n[model]\n{model['model']}\n"
        f"[privacy]\nepsilon = {epsilon}\ndelta = {0.1 / records}\n[sampler]\n{keys}\n"
    )


def ours(published):
    """Our samplers' sections for a model."""
    step = {"proposal_sd": published["dpps"]["proposal_sd"]}
    test = step | {"clip": published["dpps"]["clip"]}
    sections = [{"name": name} for name in OURS]
    sections += [{"name": name} | test for name in TESTS]
    sections.append({"name": "penalty", "tau": published["dpps"]["tau"]} | test)
    sections.append({"name": "barker-minibatch", "batch": BATCH, "correction": "mixture"} | step)
    return {f"our {section['name']}": section for section in sections}


def seconds(program, path):
    """Processor time of one plan, or why the program refuses it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, "plan", path], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        return done.stderr.strip()
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--only", default="", help="settings whose name holds this text")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    tables = tomllib.loads((THESIS / "models.toml").read_text())
    published = tomllib.loads((THESIS / "samplers.toml").read_text())
    by_sampler = {}
    refused = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "spec.toml"
        for model in [*tables["by_mmd"], tables["circle"]]:
            sections = published[model["name"]] | ours(published[model["name"]])
            for name, section in sections.items():
                for epsilon in (0.5, 0.75, 1) if model["name"] == "circle" else (1, 2, 4, 6):
                    key = f"{model['name']} {name} epsilon {epsilon}"
                    if args.only not in key:
                        continue
                    path.write_text(spec(model, section, epsilon))
                    times = [seconds(args.program, str(path)) for _ in range(args.repeats)]
                    if any(isinstance(time, str) for time in times):
                        refused.append(f"{key}: {times[0]}")
                        continue
                    by_sampler.setdefault(name, []).append((min(times), key))
                    print(f"{1000 * min(times):7.1f} ms  {key}", flush=True)
    print(f"\n{'sampler':20s} {'plans':>5s} {'median ms':>10s} {'largest ms':>10s}")
    for name, found in sorted(by_sampler.items()):
        largest, key = max(found)
        median = statistics.median(time for time, _ in found)
        print(f"{name:20s} {len(found):5d} {1000 * median:10.1f} {1000 * largest:10.1f}  {key}")
    print("\n".join(["", *(f"refused: {line}" for line in refused)]))


main()
