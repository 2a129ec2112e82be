"""Writes gaussian.csv: delta of composed Gaussian mechanisms by numerical integration, not by the formula under test.

delta = E[max(0, 1 - exp(eps - L))] for the privacy loss L ~ N(m, 2m), m = steps / (2 ratio^2), integrated by
Gauss-Legendre panels at 60 digits. Run: python3 make_gaussian.py > gaussian.csv
"""
import random
from mpmath import mp, mpf, exp, sqrt, pi, log, expm1, nstr

mp.dps = 60
random.seed(20190)


def ln_delta(m, eps):
    """ln of int_eps^inf (1 - e^(eps-l)) N(l; m, 2m) dl, the peak of the integrand factored out."""
    sd = sqrt(2 * m)
    # Substitute l = eps + t; the exponent -(eps+t-m)^2/(4m) is largest at t* = max(0, m - eps).
    peak = max(mpf(0), m - eps)
    top = (eps + peak - m) ** 2 / (4 * m)

    def integrand(t):
        return -expm1(-t) * exp(top - (eps + t - m) ** 2 / (4 * m))

    # Decay length beyond the peak: the smaller of the spread and the slope of the exponent.
    slope = max(eps - m, mpf(0)) / (2 * m)
    length = 1 / (slope + 1 / sd)
    panels = [mpf(0)]
    step = min(length, mpf(1)) if peak == 0 else min(sd, mpf(1))
    # Panels: fine near zero (where 1-e^-t bends) and around the peak, out to where nothing is left.
    end = peak + 25 * sd if peak > 0 else min(25 * sd, 160 * length)
    while panels[-1] < end:
        at = panels[-1]
        panels.append(at + max(step, min(at, max(length, sd / 2) if peak > 0 else 4 * length)))
    total = mp.quad(integrand, panels, method="gauss-legendre")
    return log(total / (sd * sqrt(2 * pi))) - top


rows = []
while len(rows) < 260:
    kind = random.random()
    eps = mpf(10) ** random.uniform(-9, 2.7)
    if random.random() < 0.05:
        eps = mpf(0)
    steps = int(10 ** random.uniform(0, 9))
    # Choose the ratio so that delta is neither 0 nor 1 for most rows.
    target = random.uniform(0.05, 36)
    mu = mpf(10) ** random.uniform(-9, 1.5)
    if eps > 0 and kind < 0.8:
        # c = eps/mu - mu/2 = target  =>  mu = sqrt(target^2 + 2 eps) - target
        mu = sqrt(target * target + 2 * eps) - target
    ratio = float(sqrt(mpf(steps)) / mu)
    eps = mpf(float(eps))
    m = mpf(steps) / (2 * mpf(ratio) ** 2)
    if m > 5000:
        continue
    value = ln_delta(m, eps)
    if value < -745:
        continue
    rows.append((ratio, steps, float(eps), exp(value)))

print("ratio,steps,epsilon,delta")
for ratio, steps, eps, delta in rows:
    print(f"{ratio!r},{steps},{eps!r},{nstr(delta, 22, min_fixed=1, max_fixed=0)}")
