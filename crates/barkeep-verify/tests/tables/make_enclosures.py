"""Writes enclosures.csv (elementary functions and normal tails) and curves.csv (privacy curves of one step), by mpmath at 60 digits.

Run: python3 make_enclosures.py   (needs mpmath; takes seconds)

Every input is an f64 written so that it reads back exactly; a value is written as `high;low`, the nearest f64 and the f64 nearest to the rest. Curves are
integrated or maximised here from their definition, not from the formulas in src/curves.rs.
"""

import random
from pathlib import Path

from mpmath import erfc, exp, expm1, findroot, log, log1p, mp, mpf, pi, quad, sqrt

mp.dps = 60
random.seed(42)
FOLDER = Path(__file__).parent


def phi_bar(x):
    return erfc(x / sqrt(2)) / 2


def mills(x):
    return phi_bar(x) * sqrt(2 * pi) * exp(x * x / 2)


def split(value):
    high = float(value)
    return f"{high!r};{float(value - mpf(high))!r}"


FUNCTIONS = {
    "exp": (exp, lambda: random.uniform(-700, 700)),
    "exp_m1": (expm1, lambda: random.choice([-1, 1]) * 10 ** random.uniform(-12, 1.5)),
    "ln": (log, lambda: 10 ** random.uniform(-300, 300)),
    "ln_1p": (log1p, lambda: random.choice([-0.999, 1, 1e6]) * random.random() ** 8),
    "tail": (phi_bar, lambda: random.uniform(-8, 38)),
    "mills": (mills, lambda: random.uniform(0, 38)),
}

with open(FOLDER / "enclosures.csv", "w") as out:
    for name, (function, draw) in FUNCTIONS.items():
        for x in [draw() for _ in range(60)]:
            print(f"{name};{x!r};{split(function(mpf(x)))}", file=out)


def normal(x, mean=0, variance=1):
    return exp(-((x - mean) ** 2) / (2 * variance)) / sqrt(2 * pi * variance)


def hockey(p, q, x, middle):
    """The integral of max(0, p − xq): outwards from its roots, which are looked for on a grid."""
    f = lambda y: p(y) - x * q(y)
    # Off every simple fraction, so that no root is a grid point.
    grid = [mpf(middle) + (mpf(k) + pi / 20) / 4 for k in range(-160, 161)]
    roots = []
    for a, b in zip(grid, grid[1:]):
        if f(a) * f(b) < 0:
            roots.append(findroot(f, (a, b), solver="anderson", tol=1e-50))
    ends = [grid[0]] + roots + [grid[-1]]
    return sum(quad(f, [a + (b - a) * mpf(i) / 16 for i in range(17)]) for a, b in zip(ends, ends[1:]) if f((a + b) / 2) > 0)


mp.dps = 40
with open(FOLDER / "curves.csv", "w") as out:
    for mu in [0.1, 1.0, 3.0]:
        for l in [-1.0, 0.0, 0.25, 2.0]:
            m = mpf(mu)
            value = hockey(lambda y: normal(y, m), normal, exp(mpf(l)), 0)
            print(f"gaussian;{mu!r};1.0;{l!r};{split(value)}", file=out)
    for mu, rate in [(1.0, 0.01), (0.5, 0.3)]:
        m, r = mpf(mu), mpf(rate)
        mixed = lambda y, at: (1 - r) * normal(y) + r * normal(y, at)
        for l in [-0.2, 0.0, 0.001, 0.1, 0.5]:
            x = exp(mpf(l))
            print(f"removed;{mu!r};{rate!r};{l!r};{split(hockey(lambda y: mixed(y, m), normal, x, 0))}", file=out)
            print(f"added;{mu!r};{rate!r};{l!r};{split(hockey(normal, lambda y: mixed(y, m), x, 0))}", file=out)
            substituted = hockey(lambda y: mixed(y, m / 2), lambda y: mixed(y, -m / 2), x, 0)
            print(f"substituted;{mu!r};{rate!r};{l!r};{split(substituted)}", file=out)
    # Normals of different variance: (distance, extra variance of the first or the second).
    for g, e in [(0.06, 0.004), (0.2, 0.05)]:
        d, v = mpf(g), 1 + mpf(e)
        for l in [0.01, 0.1, 0.5]:
            x = exp(mpf(l))
            print(f"first;{g!r};{e!r};{l!r};{split(hockey(lambda y: normal(y, d, v), normal, x, 0))}", file=out)
            print(f"second;{g!r};{e!r};{l!r};{split(hockey(lambda y: normal(y, d), lambda y: normal(y, 0, v), x, 0))}", file=out)
