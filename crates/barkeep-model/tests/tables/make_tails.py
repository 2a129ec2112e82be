"""Writes tails.csv: logarithms of the tails of gamma and beta laws over wide shapes, by mpmath at 60 digits.

Run: python3 make_tails.py    (needs mpmath)

A row is law,a,b,at,ln P(X <= x),ln P(X > x). A gamma law has shape a, rate 1, and x = at; a beta law shapes a and b, and logit x = at.
Every input is an f64, written so that it reads back exactly.
"""

import math
import random
from pathlib import Path

from mpmath import betainc, exp, gammainc, inf, log, mp, mpf

mp.dps = 60
source = random.Random(40)


def shape():
    return 10 ** source.uniform(-3, 4)


rows = []
for k in range(120):
    a, b = shape(), shape()
    far = source.choice([0.3, 2, 6, 12]) * source.gauss(0, 1)
    at = a * math.exp(far / math.sqrt(max(a, 0.2)))
    if 1e-250 < at < 1e5:
        below, above = gammainc(a, 0, at, regularized=True), gammainc(a, at, inf, regularized=True)
        rows.append(("gamma", a, 0.0, at, float(log(below)), float(log(above))))
    at = math.log(a / b) + far * math.sqrt(1 / max(a, 0.2) + 1 / max(b, 0.2))
    x, rest = 1 / (1 + exp(-mpf(at))), 1 / (1 + exp(mpf(at)))
    below, above = betainc(a, b, 0, x, regularized=True), betainc(b, a, 0, rest, regularized=True)
    rows.append(("beta", a, b, at, float(log(below)), float(log(above))))

with open(Path(__file__).parent / "tails.csv", "w") as out:
    out.write("law,a,b,at,log_below,log_above\n")
    for name, *numbers in rows:
        out.write(",".join([name, *(repr(number) for number in numbers)]) + "\n")
