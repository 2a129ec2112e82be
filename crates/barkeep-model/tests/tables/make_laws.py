"""Writes laws.csv: log densities and log tails of the distributions a model's text can name, by scipy.

Run: python3 make_laws.py    (needs scipy and numpy)

A row is law,y,arguments (separated by spaces),log density,ln P(Y <= y),ln P(Y > y); the tails are empty where barkeep has none.
Every input is an f64, written so that it reads back exactly.
"""

import random
from pathlib import Path

import numpy as np
from scipy import special, stats

source = random.Random(20)


def real(low, high):
    return source.uniform(low, high)


def ordered(y, a):
    eta, cuts = a[0], list(a[1:])
    below = [special.expit(cut - eta) for cut in cuts] + [1.0]
    above = [0.0] + below[:-1]
    return np.log(below[y] - above[y])


def categorical(y, a):
    return a[y] - special.logsumexp(a)


CONTINUOUS = {
    "normal": lambda a: stats.norm(a[0], a[1]),
    "cauchy": lambda a: stats.cauchy(a[0], a[1]),
    "logistic": lambda a: stats.logistic(a[0], a[1]),
    "laplace": lambda a: stats.laplace(a[0], a[1]),
    "lognormal": lambda a: stats.lognorm(s=a[1], scale=np.exp(a[0])),
    "exponential": lambda a: stats.expon(scale=1 / a[0]),
    "weibull": lambda a: stats.weibull_min(a[0], scale=a[1]),
    "student_t": lambda a: stats.t(a[0], a[1], a[2]),
    "uniform": lambda a: stats.uniform(a[0], a[1] - a[0]),
    "gamma": lambda a: stats.gamma(a[0], scale=1 / a[1]),
    "half_normal": lambda a: stats.halfnorm(scale=a[0]),
    "half_cauchy": lambda a: stats.halfcauchy(scale=a[0]),
    "beta": lambda a: stats.beta(a[0], a[1]),
}
DISCRETE = {
    "bernoulli": lambda a: stats.bernoulli(a[0]),
    "bernoulli_logit": lambda a: stats.bernoulli(special.expit(a[0])),
    "binomial": lambda a: stats.binom(a[0], a[1]),
    "binomial_logit": lambda a: stats.binom(a[0], special.expit(a[1])),
    "beta_binomial": lambda a: stats.betabinom(int(a[0]), a[1], a[2]),
    "poisson": lambda a: stats.poisson(a[0]),
    "poisson_log": lambda a: stats.poisson(np.exp(a[0])),
    "neg_binomial": lambda a: stats.nbinom(a[1], a[1] / (a[0] + a[1])),
}


def arguments(name):
    location, scale = real(-3, 3), real(0.2, 3)
    whole = float(source.randint(1, 30))
    return {
        "student_t": [real(0.5, 20), location, scale],
        "uniform": [location, location + scale],
        "exponential": [scale],
        "half_normal": [scale],
        "half_cauchy": [scale],
        "gamma": [real(0.2, 8), scale],
        "weibull": [real(0.4, 4), scale],
        "beta": [real(0.3, 6), real(0.3, 6)],
        "bernoulli": [real(0.01, 0.99)],
        "bernoulli_logit": [location],
        "binomial": [whole, real(0.01, 0.99)],
        "binomial_logit": [whole, location],
        "beta_binomial": [whole, real(0.3, 6), real(0.3, 6)],
        "poisson": [real(0.1, 40)],
        "poisson_log": [location],
        "neg_binomial": [real(0.1, 40), real(0.2, 20)],
    }.get(name, [location, scale])


# Laws of counts that have no tails in barkeep.
UNTAILED = {"bernoulli", "bernoulli_logit", "beta_binomial"}


def tails(fixed, y):
    """scipy's own logarithms of tails, from the smaller side where it is precise."""
    return [repr(float(fixed.logcdf(y))), repr(float(fixed.logsf(y)))]


rows = []
for name, law in CONTINUOUS.items():
    for _ in range(40):
        a = arguments(name)
        fixed = law(a)
        y = float(fixed.ppf(real(0.001, 0.999)))
        rows.append((name, y, a, float(fixed.logpdf(y)), *tails(fixed, y)))
for name, law in DISCRETE.items():
    for _ in range(40):
        a = arguments(name)
        fixed = law(a)
        y = float(fixed.ppf(real(0.001, 0.999)))
        ends = ["", ""] if name in UNTAILED else tails(fixed, y)
        rows.append((name, y, a, float(fixed.logpmf(int(y))), *ends))
for _ in range(40):
    cuts = sorted(real(-4, 4) for _ in range(source.randint(1, 5)))
    a, y = [real(-3, 3), *cuts], source.randint(0, len(cuts))
    rows.append(("ordered_logistic", float(y), a, float(ordered(y, a)), "", ""))
    a = [real(-3, 3) for _ in range(source.randint(2, 6))]
    y = source.randint(0, len(a) - 1)
    rows.append(("categorical_logit", float(y), a, float(categorical(y, np.array(a))), "", ""))

with open(Path(__file__).parent / "laws.csv", "w") as out:
    out.write("law,y,arguments,log_density,log_below,log_above\n")
    for name, y, a, density, below, above in rows:
        out.write(f"{name},{y!r},{' '.join(repr(float(x)) for x in a)},{density!r},{below},{above}\n")
