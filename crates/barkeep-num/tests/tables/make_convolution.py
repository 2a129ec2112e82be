"""Writes convolution.csv: convolutions and convolution powers of f64 sequences, summed directly in exact rationals.

Run: python3 make_convolution.py   (needs mpmath; takes seconds)

A row is `kind;power;a;b;logs`: `product` rows give the convolution of a and b as f64; `power` rows give the natural logarithms
of the entries of the convolution power of a (b is empty), so that entries far below the smallest f64 are kept.
"""

import random
from fractions import Fraction
from pathlib import Path

from mpmath import log, mp, mpf

mp.dps = 50
random.seed(20240607)


def convolve(a, b):
    c = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            c[i + j] += x * y
    return c


def power(a, k):
    result, square = [Fraction(1)], a
    while k:
        if k & 1:
            result = convolve(result, square)
        k >>= 1
        if k:
            square = convolve(square, square)
    return result


def ln(x):
    return log(mpf(x.numerator)) - log(mpf(x.denominator))


def join(values):
    return " ".join(repr(float(v)) for v in values)


def main():
    rows = ["kind;power;a;b;result"]
    for la, lb in [(1, 1), (1, 5), (7, 5), (100, 37), (150, 150)]:
        a = [random.uniform(-1, 1) for _ in range(la)]
        b = [random.uniform(-1, 1) * 10 ** random.uniform(-8, 0) for _ in range(lb)]
        c = convolve([Fraction(x) for x in a], [Fraction(x) for x in b])
        rows.append(f"product;1;{join(a)};{join(b)};{join(c)}")
    for length, k, decay in [(2, 64, 1), (5, 40, 6), (9, 65, 9), (12, 30, 25), (3, 200, 40)]:
        a = [random.uniform(0.2, 1) * 10 ** (-decay * i / length) for i in range(length)]
        c = power([Fraction(x) for x in a], k)
        rows.append(f"power;{k};{join(a)};;{join(ln(x) for x in c)}")
    Path(__file__).with_name("convolution.csv").write_text("\n".join(rows) + "\n")


main()
