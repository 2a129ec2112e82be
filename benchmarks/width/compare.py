"""Sets the time of a pass through the gate beside what others take for the same gradient of a logistic regression, in one run.

    pip install numpy                    # and, where wanted: jax, pymc and nutpie
    python3 benchmarks/width/compare.py [PROGRAM]

Runs `cargo bench -p barkeep-curator --bench width`, or the program of that bench where one is named, which prints bytes and times of tables of 8-byte columns and of columns at their own
width, then computes the same gradient on tables of the same shape: numpy on a matrix of f64, numpy on indices of levels, JAX on the
matrix (compiled, f64), and nutpie (PyMC, a short run divided by its gradients). The others clip nothing, round nothing and protect
nobody. The shortest of some passes, in nanoseconds a record; a dash is a library that is not installed, and nutpie beyond 50 000 records.
"""

import re
import subprocess
import sys
import time

import numpy as np

# As in crates/barkeep-curator/benches/width.rs.
SHAPES = {
    "four categories": ([5, 7, 16, 24], 0, None),
    "flights": ([3, 16, 12], 2, None),
    "mixed": ([4, 8], 6, None),
    "crossed": ([6, 12], 2, "crossed"),
    "pairs": ([], 8, "pairs"),
    "few of the first": ([5, 7, 16, 24], 0, None),
    "few of mixed": ([4, 8], 6, None),
    "few crossed": ([6, 12], 2, "crossed"),
}
LINE = re.compile(r"^(\D+?)\s+(\d+)\s+(\d+)\s+(\d+)\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+([\d.]+)\s+([\d.]+)\s+[\d.]+$")


def fastest(records, compute):
    compute()
    times = []
    # Short passes are tried more often: a machine shared with others is seldom left alone for long.
    for _ in range(min(200, max(5, 4_000_000 // records))):
        start = time.perf_counter()
        compute()
        times.append(time.perf_counter() - start)
    return min(times) / records * 1e9


def made_up(records, categories, reals, more):
    """A response, indices of levels and how many levels each has, and numbers; columns made of others are made once, beforehand."""
    rng = np.random.default_rng(1)
    response = (rng.random(records) < 0.4).astype(float)
    levels = [rng.integers(0, count, records, dtype=np.uint8) for count in categories]
    numbers = [2 * rng.random(records) - 1 for _ in range(reals)]
    if more == "crossed":
        first, second = levels
        both = np.where((first > 0) & (second > 0), (first - 1) * (categories[1] - 1) + second, 0).astype(np.uint8)
        numbers += [numbers[0] * (second == level) for level in range(1, categories[1])] + [numbers[0] * numbers[1]]
        levels, categories = [*levels, both], [*categories, (categories[0] - 1) * (categories[1] - 1) + 1]
    elif more == "pairs":
        numbers += [one * other for i, one in enumerate(numbers) for other in numbers[i + 1 :]]
    return response, levels, categories, numbers


def matrix(records, categories, levels, numbers):
    columns = sum(categories) - len(categories) + len(numbers) + 1
    out = np.ones((records, columns))
    at = 1
    for count, level in zip(categories, levels):
        for value in range(1, count):
            out[:, at] = level == value
            at += 1
    for column in numbers:
        out[:, at] = column
        at += 1
    return out


def by_index(categories, response, levels, numbers):
    """Levels enter by a table of coefficients, gradients by a bucket of sums."""
    tables = [np.concatenate([[0.0], np.full(count - 1, 0.1)]) for count in categories]

    def compute():
        eta = np.full(len(response), 0.1)
        for table, level in zip(tables, levels):
            eta += table[level]
        for column in numbers:
            eta += 0.1 * column
        residual = response - 1 / (1 + np.exp(-eta))
        sums = [np.bincount(level, residual, count) for count, level in zip(categories, levels)]
        return residual.sum(), sums, [column @ residual for column in numbers]

    return compute


def dense(response, design):
    theta = np.full(design.shape[1], 0.1)
    return lambda: design.T @ (response - 1 / (1 + np.exp(-(design @ theta))))


def by_jax(response, design):
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    x, y = jnp.asarray(design), jnp.asarray(response)
    gradient = jax.jit(jax.grad(lambda theta: jnp.sum(y * (x @ theta) - jnp.logaddexp(0.0, x @ theta))))
    theta = jnp.full(design.shape[1], 0.1)
    return lambda: gradient(theta).block_until_ready()


def by_nutpie(response, design):
    """Nanoseconds a record of one gradient, by a run of some steps."""
    try:
        import nutpie
        import pymc
    except ImportError:
        return None
    with pymc.Model() as model:
        theta = pymc.Normal("theta", 0, 2.5, shape=design.shape[1])
        pymc.Bernoulli("y", logit_p=design @ theta, observed=response)
    compiled = nutpie.compile_pymc_model(model)
    start = time.perf_counter()
    trace = nutpie.sample(compiled, draws=5, tune=5, chains=1, cores=1, seed=1, progress_bar=False, save_warmup=True)
    seconds = time.perf_counter() - start
    stats = [trace.sample_stats, trace.warmup_sample_stats]
    gradients = sum(int(each["n_steps"].sum()) for each in stats)
    return seconds / gradients / len(response) * 1e9


def main():
    bench = sys.argv[1:] or ["cargo", "bench", "--quiet", "-p", "barkeep-curator", "--bench", "width"]
    printed = subprocess.run(bench, check=True, capture_output=True, text=True).stdout
    print(printed, flush=True)
    print("gradient, ns a record: barkeep in f64, barkeep at its own width, numpy f64, numpy by index, JAX f64, nutpie")
    for line in printed.splitlines():
        found = LINE.match(line)
        if not found:
            continue
        name, records, _, _, wide, own = found.groups()
        records = int(records)
        response, levels, categories, numbers = made_up(records, *SHAPES[name])
        times = [float(wide), float(own)]
        index = fastest(records, by_index(categories, response, levels, numbers))
        design = matrix(records, categories, levels, numbers)
        times += [fastest(records, dense(response, design)), index]
        jax = by_jax(response, design)
        times.append(fastest(records, jax) if jax else None)
        # A chain takes hundreds of gradients: on more records it takes hours.
        times.append(by_nutpie(response, design) if records <= 50_000 else None)
        print(f"{name:18} {records:>9} " + " ".join(f"{t:8.2f}" if t is not None else "       -" for t in times), flush=True)


if __name__ == "__main__":
    main()
