"""Prints the constants of src/*/coefficients.rs: polynomials and rationals through Chebyshev nodes.

Run (needs mpmath; takes seconds):
    python3 make_coefficients.py special > ../../src/special/coefficients.rs
    python3 make_coefficients.py vector > ../../src/vector/coefficients.rs
    cargo fmt
"""

import sys

from mpmath import cos, erfc, erfinv, exp, factorial, log, lu_solve, matrix, mp, mpf, pi, polyval, sqrt

mp.dps = 60


def nodes(count, low, high):
    return [(low + high) / 2 + (high - low) / 2 * cos(pi * (mpf(j) + mpf(1) / 2) / count) for j in range(count)]


def rational(f, numerator, denominator, low, high):
    """Coefficients (lowest power first) of P/Q, Q(0) = 1, agreeing with f at Chebyshev nodes; and the worst relative error."""
    low, high = mpf(low), mpf(high)
    points = nodes(numerator + denominator + 1, low, high)
    rows, right = [], []
    for x in points:
        y = f(x)
        rows.append([x**j for j in range(numerator + 1)] + [-y * x**j for j in range(1, denominator + 1)])
        right.append(y)
    solution = lu_solve(matrix(rows), matrix(right))
    top = [solution[j] for j in range(numerator + 1)]
    bottom = [mpf(1)] + [solution[numerator + j] for j in range(1, denominator + 1)]
    worst = mpf(0)
    for j in range(400):
        x = low + (high - low) * j / 399
        worst = max(worst, abs(polyval(top[::-1], x) / polyval(bottom[::-1], x) / f(x) - 1))
    return top, bottom, worst


def erfcx(x):
    if x < 1000:
        return exp(x * x) * erfc(x)
    total, term = mpf(0), mpf(1)
    for k in range(1, 40):
        total += term
        term *= -(2 * k - 1) / (2 * x * x)
    return total / (x * sqrt(pi))


def scaled_erfcx(q):
    """(1 + 2x)·erfcx(x) as a function of q = (x − 4)/(x + 4)."""
    if 1 - q < mpf(10) ** -15:
        return 2 / sqrt(pi)
    x = 4 * (1 + q) / (1 - q)
    return (1 + 2 * x) * erfcx(x)


def quantile(log_p):
    """The root x of ln Φ(x) = log_p, by Newton's method."""
    x = -sqrt(-2 * log_p)
    for _ in range(200):
        tail = erfc(-x / sqrt(2)) / 2
        step = (log(tail) - log_p) * tail / (exp(-x * x / 2) / sqrt(2 * pi))
        x -= step
        if abs(step) < mpf(10) ** -50 * abs(x):
            return x
    raise ArithmeticError("no root")


def central(s):
    """(Φ⁻¹(½ + q)/q − √(2π))/q² as a function of s = q²."""
    if s < mpf(10) ** -30:
        return 2 * pi * sqrt(2 * pi) / 6
    q = sqrt(s)
    return (sqrt(2) * erfinv(2 * q) / q - sqrt(2 * pi)) / s


def shortfall(r):
    """√2·r + Φ⁻¹(p) as a function of r = √(−ln p): what the leading term of the tail overshoots by."""
    return sqrt(2) * r + quantile(-r * r)


def show(name, about, values):
    print(f"/// {about}")
    print(f"pub(super) const {name}: [f64; {len(values)}] = [")
    for value in values:
        print(f"    {float(value)!r},")
    print("];")


def special():
    print("//! Holds the constants of the special functions, printed by tests/tables/make_coefficients.py.")
    top, _, worst = rational(scaled_erfcx, 26, 0, -1, 1)
    show("ERFCX", f"`(1 + 2x)·erfcx(x)` in powers of `q = (x − 4)/(x + 4)`, x ≥ 0; relative error {mp.nstr(worst, 2)} before rounding.", top)
    edge = mpf("0.425") ** 2
    top, bottom, worst = rational(lambda w: central(edge - w), 8, 8, 0, edge)
    show("CENTRE_TOP", f"(Φ⁻¹(½ + q)/q − √(2π))/q² in powers of 0.425² − q², numerator, |q| ≤ 0.425; relative error {mp.nstr(worst, 2)} before rounding.", top)
    show("CENTRE_BOTTOM", "Its denominator.", bottom)
    top, bottom, worst = rational(lambda t: shortfall(t + mpf("1.6")), 8, 8, 0, mpf("3.4"))
    show("TAIL_TOP", f"√2·r + Φ⁻¹(e^(−r²)) in powers of r − 1.6, numerator, 1.6 ≤ r ≤ 5; relative error {mp.nstr(worst, 2)} before rounding.", top)
    show("TAIL_BOTTOM", "Its denominator.", bottom)
    top, bottom, worst = rational(lambda t: shortfall(t + 5), 10, 10, 0, mpf("22.5"))
    show("FAR_TOP", f"√2·r + Φ⁻¹(e^(−r²)) in powers of r − 5, numerator, 5 ≤ r ≤ 27.5; relative error {mp.nstr(worst, 2)} before rounding.", top)
    show("FAR_BOTTOM", "Its denominator.", bottom)


def remainder_of_exp(r):
    """(e^r − 1 − r)/r², by its series: direct evaluation cancels."""
    return sum(r**j / factorial(j + 2) for j in range(45))


def error_of_exp(coefficients, r):
    """The relative error of 1 + r + r²·P(r)."""
    return abs((1 + r + r * r * polyval(coefficients[::-1], r)) / exp(r) - 1)


def remainder_of_log(z):
    """(ln((1+s)/(1−s)) − 2s)/(s·z) as a function of z = s²."""
    return sum(2 * z**j / (2 * j + 3) for j in range(90))


def vector():
    print("//! Holds the constants of the vector kernels, printed by tests/tables/make_coefficients.py.")
    half = log(2) / 2 * mpf("1.0001")
    top, _, worst = rational(remainder_of_exp, 9, 0, -half, half)
    show("EXP", f"(e^r − 1 − r)/r² in powers of r, |r| ≤ ½ ln 2; relative error {mp.nstr(worst, 2)} before rounding.", top)
    top, _, worst = rational(remainder_of_exp, 5, 0, -half, half)
    show("EXP_SHORT", f"The same to a relative error of {mp.nstr(worst, 2)}: of e^r itself {mp.nstr(max(error_of_exp(top, r) for r in (-half, half)), 2)}.", top)
    edge = (sqrt(2) - 1) / (sqrt(2) + 1) * mpf("1.0001")
    top, _, worst = rational(remainder_of_log, 6, 0, 0, edge**2)
    show("LOG", f"(2·artanh(s) − 2s)/s³ in powers of s², |s| ≤ (√2−1)/(√2+1); relative error {mp.nstr(worst, 2)} before rounding.", top)
    top, _, worst = rational(remainder_of_log, 9, 0, 0, mpf(1) / 9)
    show("LOG_WIDE", f"The same for |s| ≤ 1/3; relative error {mp.nstr(worst, 2)} before rounding.", top)


{"special": special, "vector": vector}[sys.argv[1]]()
