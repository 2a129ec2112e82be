"""Writes rules.csv: acceptance and rejection probabilities at high precision, split into two f64 each.

python3 make_rules.py > rules.csv        (needs mpmath; seconds)

Columns: rule, parameter, batch variance, log-ratio, accept (high, low), reject (high, low). The penalty is the expectation
of min(1, exp(l + xi - s^2/2)); its closed form is checked here against that integral. The corrected rule uses the two
mixtures below, which tests.rs repeats.
"""
from mpmath import mp, mpf, exp, quad, ncdf, sqrt, inf, npdf

mp.dps = 420

MIXTURES = {
    1: [(0.866, 0.0, 0.0), (0.0659, 2.951, 0.0), (0.0659, -2.951, 0.0), (0.0011, 9.221, 0.0), (0.0011, -9.221, 0.0)],
    2: [(0.5, 0.0, 0.75), (0.25, 1.5, 0.5), (0.25, -1.5, 0.5)],
}
LAMBDAS = [0.0, 2.0**-20, 0.01, 0.1, 0.3, 0.69, 1.0, 1.7, 2.5, 4.0, 5.3, 7.0, 8.0, 10.0, 12.6, 16.0, 20.0, 25.0, 30.0, 37.0,
           41.0, 45.0, 52.0, 58.0, 63.99, 64.0]
SIGMAS = [1 / 1024, 1 / 256, 1 / 64, 0.05, 0.1, 0.25, 0.5, 0.9, 1.0, 1.349, 1.7, 2.0, 3.0, 5.0, 8.0, 11.0, 16.0, 23.0, 35.0,
          50.0, 64.0]


def penalty(l, s):
    z = l / s - s / 2
    accept = ncdf(z) + exp(l) * ncdf(-z - s)
    return accept, ncdf(-z) - exp(l) * ncdf(-z - s)


def penalty_by_integral(l, s):
    z = l / s - s / 2
    def below(f, end, peak):
        return quad(f, [end + d for d in (-60, -30, -16, -9, -6, -4, -3, -2, -1.2, -0.7, -0.4, -0.2, -0.1, -0.05, 0)] if end <= peak else
                    [p for p in (peak + d for d in (-40, -16, -9, -6, -4, -2, 0, 2, 4, 6, 9, 16)) if p < end] + [end])
    with mp.workdps(90):
        reject = below(lambda y: (1 - exp(s * (y + z))) * npdf(y), -z, mpf(0))
        accept = ncdf(z) + below(lambda y: exp(s * (y + z)) * npdf(y), -z, s)
    return accept, reject


def corrected(l, variance, mixture):
    total = sum(mpf(w) for w, _, _ in mixture)
    def tail(l):
        return sum(mpf(w) * ncdf((l + mpf(m)) / sqrt(variance + mpf(d) ** 2)) for w, m, d in mixture) / total
    return tail(l), tail(-l)


def split(x):
    high = float(x)
    return f"{high!r},{float(x - mpf(high))!r}"


def row(rule, parameter, batch, l, sides):
    print(f"{rule},{parameter!r},{batch!r},{l!r},{split(sides[0])},{split(sides[1])}")


signed = sorted({s * l for l in LAMBDAS for s in (-1.0, 1.0)})
count = 0
for l in signed:
    row("barker", 0.0, 0.0, l, (1 / (1 + exp(-mpf(l))), 1 / (1 + exp(mpf(l)))))
    row("metropolis", 0.0, 0.0, l, (min(mpf(1), exp(mpf(l))), max(mpf(0), 1 - exp(mpf(l)))))
    for s in SIGMAS:
        sides = penalty(mpf(l), mpf(s))
        row("penalty", s, 0.0, l, sides)
        count += 1
        if count % 23 == 0 and 0.05 <= s <= 11 and abs(l) <= 20:
            for ours, theirs in zip(sides, penalty_by_integral(mpf(l), mpf(s))):
                assert ours < 1e-60 or abs(ours - theirs) <= mpf(10) ** -15 * ours, (l, s, ours, theirs)
    for name, mixture in MIXTURES.items():
        for batch in (0.0, 0.4375, 1.0):
            row("corrected", float(name), batch, l, corrected(mpf(l), 2 - mpf(batch), mixture))
# Batches: the log-ratio and the variance are short binary numbers, so the subtraction of the program is exact.
for l in (-9.5, -2.25, 0.0, 0.75, 3.5, 11.0, 30.0):
    for s in (0.5, 1.0, 2.0, 5.0):
        for batch in (0.25, 1.5, 7.0):
            m = mpf(l) - (mpf(s) ** 2 + mpf(batch)) / 2
            s_ = mpf(s)
            accept = ncdf(m / s_) + exp(m + s_**2 / 2) * ncdf(-m / s_ - s_)
            row("penalty", s, batch, l, (accept, 1 - accept))
# Outcomes below 2^-60, down to where an f64 hardly holds them.
for s in SIGMAS:
    for exponent in (60.5, 64, 80, 120, 200, 400, 700, 890, 903, 960):
        z = sqrt(2 * mpf(exponent) * mp.ln(2))
        for l in (float(s * (z + mpf(s) / 2)), float(s * (mpf(s) / 2 - z))):
            if abs(l) <= 64:
                row("penalty", s, 0.0, l, penalty(mpf(l), mpf(s)))
for name, mixture in MIXTURES.items():
    for batch in (0.0, 1.0):
        for l in (12.0, 18.0, 24.0, 30.0, 36.0, 44.0, 50.0, 57.0):
            row("corrected", float(name), batch, -l, corrected(mpf(-l), 2 - mpf(batch), mixture))
