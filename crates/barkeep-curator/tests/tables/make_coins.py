"""Writes coins.csv: acceptance rules at high precision, to 20 digits.

python3 make_coins.py > coins.csv        (needs mpmath; about a minute)

Columns: rule, parameter, log-ratio, accept, reject. Penalties are integrated, E min(1, exp(l + xi - s^2/2)) over
xi ~ N(0, s^2), not taken from their closed form; "corrected" is P(l + N(0, 2) + V > 0) for V = 0 with probability 3/4
and +-3 with 1/8 each; "lazy" is a penalty with sigma = 1, tried with the given probability.
"""

from mpmath import erfc, exp, mp, mpf, nstr, npdf, quad, sqrt

mp.dps = 50

MAGNITUDES = [0.0, 0.01, 0.5, 1.0, 2.0, 3.75, 5.0, 8.0, 12.0, 20.0, 33.0, 50.0, 64.0]


def upper_tail(x):
    return erfc(x / sqrt(2)) / 2


def barker(l, _):
    return 1 / (1 + exp(-l)), 1 / (1 + exp(l))


def metropolis(l, _):
    return min(mpf(1), exp(l)), max(mpf(0), 1 - exp(l))


def penalty(l, s):
    # With z = l/s - s/2 the exponent l + xi - s^2/2 is -s t at xi = -s (z + t), and is negative for t > 0.
    z = l / s - s / 2

    def beyond(slope, weight):
        """The integral over t > 0 of weight(t) e^(-slope t) times the normal density at z + t."""
        peak, scale = max(mpf(0), -slope), 1 / max(mpf(1), slope)
        around = [d * scale for d in (-45, -16, -9, -6, -4, -2, -1, 0, mpf(1) / 8, mpf(1) / 2, 1, 2, 4, 6, 9, 16, 45, 130)]
        points = [mpf(0)] + [peak + d for d in around if peak + d > 0]
        # Divided by its order of magnitude, so that the error of the quadrature is relative.
        return quad(lambda t: weight(t) * exp(-((t - peak) ** 2) / 2 - (slope + peak) * t), points) * exp(
            peak**2 / 2
        ) * npdf(z)

    accept = upper_tail(-z) + beyond(z + s, lambda t: 1)
    reject = beyond(z, lambda t: 1 - exp(-s * t))
    assert abs(accept + reject - 1) < mpf(10) ** -30, (l, s)
    return accept, reject


def corrected(l, _):
    def tail(l):
        return sum(w * upper_tail(-(l + m) / sqrt(2)) for w, m in ((mpf(3) / 4, 0), (mpf(1) / 8, 3), (mpf(1) / 8, -3)))
    return tail(l), tail(-l)


def lazy(l, keep):
    accept, reject = penalty(l, mpf(1))
    return keep * accept, reject + (1 - keep) * accept


RULES = [("metropolis", metropolis, 0.0), ("barker", barker, 0.0), ("corrected", corrected, 2.0)]
RULES += [("penalty", penalty, s) for s in (0.25, 1.0, 2.0, 5.0)] + [("lazy", lazy, k) for k in (0.25, 0.75)]

for name, rule, parameter in RULES:
    for l in sorted({sign * m + 0.0 for m in MAGNITUDES for sign in (-1.0, 1.0)}):
        accept, reject = rule(mpf(l), mpf(parameter))
        print(f"{name},{parameter!r},{l!r},{nstr(accept, 20)},{nstr(reject, 20)}")
