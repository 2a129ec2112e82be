"""Computes the posteriors of every fit in fits.json by importance sampling, for chains to be held against.

Run in this folder after make.py: python3 make_posteriors.py   (numpy, pandas, scipy)

Log densities are scipy's. Coefficients have flat priors; sd and scale a half-normal of scale 100, size and shape an
exponential of rate 0.1, each with the Jacobian of its logarithm. Draws come from Student's t with 8 degrees of freedom around
the mode, stretched by the curvature there; `error` is the standard error of each mean.
"""

import json

import numpy as np
import pandas as pd
from scipy import optimize, special, stats

DRAWS, CHUNK = 60_000, 3_000


def densities(data, family):
    """A function from parameters, one set a row, to log densities of the posterior."""
    b, c = (data.g == "b").to_numpy(float), (data.g == "c").to_numpy(float)
    x1 = data.x1.to_numpy()
    X = np.column_stack([np.ones(len(data)), x1, data.x2, b, c, x1 * b, x1 * c])
    y, o, m = data[family].to_numpy(), data.o.to_numpy(), data.m.to_numpy()

    def log_density(theta):
        eta, log_nuisance = theta[:, :7] @ X.T, theta[:, 7:]
        nuisance, prior = np.exp(log_nuisance), 0.0
        if family in ("gaussian", "student_t"):
            prior = stats.halfnorm.logpdf(nuisance, scale=100) + log_nuisance
        elif family in ("negative_binomial", "gamma"):
            prior = stats.expon.logpdf(nuisance, scale=10) + log_nuisance
        if family == "gaussian":
            terms = stats.norm.logpdf(y, eta, nuisance)
        elif family == "student_t":
            terms = stats.t.logpdf(y, 4, eta, nuisance)
        elif family == "logit":
            terms = y * special.log_expit(eta) + (1 - y) * special.log_expit(-eta)
        elif family == "probit":
            terms = y * special.log_ndtr(eta) + (1 - y) * special.log_ndtr(-eta)
        elif family == "binomial":
            terms = y * special.log_expit(eta) + (m - y) * special.log_expit(-eta)
        elif family == "poisson":
            terms = stats.poisson.logpmf(y, np.exp(eta + o))
        elif family == "negative_binomial":
            terms = stats.nbinom.logpmf(y, nuisance, nuisance / (nuisance + np.exp(eta + o)))
        elif family == "exponential":
            terms = stats.expon.logpdf(y, scale=np.exp(eta))
        else:
            terms = stats.gamma.logpdf(y, nuisance, scale=np.exp(eta) / nuisance)
        return terms.sum(axis=1) + np.sum(prior, axis=1) if nuisance.size else terms.sum(axis=1)

    return log_density


def curvature(log_density, at):
    d, h = len(at), 1e-3
    steps = np.eye(d) * h
    rows = [at + i + j for one in steps for other in steps for i, j in [(one, other), (one, -other), (-one, other), (-one, -other)]]
    value = log_density(np.array(rows)).reshape(d, d, 4)
    return -(value[:, :, 0] - value[:, :, 1] - value[:, :, 2] + value[:, :, 3]) / (4 * h * h)


posteriors, random = {}, np.random.default_rng(7)
for name, families in json.load(open("fits.json")).items():
    data, posteriors[name] = pd.read_csv(f"{name}.csv"), {}
    for family, fit in families.items():
        log_density = densities(data, family)
        found = optimize.minimize(lambda theta: -log_density(theta[None])[0], fit, method="BFGS")
        mode, precision = found.x, curvature(log_density, found.x)
        root = np.linalg.cholesky(np.linalg.inv(precision))
        t = random.standard_normal((DRAWS, len(mode))) / np.sqrt(random.chisquare(8, DRAWS) / 8)[:, None]
        draws = mode + t @ root.T
        target = np.concatenate([log_density(part) for part in np.split(draws, DRAWS // CHUNK)])
        log_weight = target + (8 + len(mode)) / 2 * np.log1p((t * t).sum(axis=1) / 8)
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        mean = weight @ draws
        sd = np.sqrt(weight @ (draws - mean) ** 2)
        error = np.sqrt((weight**2) @ (draws - mean) ** 2)
        print(name, family, "effective draws", round(1 / (weight**2).sum()), "largest error in sd", (error / sd).max().round(4))
        posteriors[name][family] = {"mean": mean.tolist(), "sd": sd.tolist(), "error": error.tolist()}
with open("posteriors.json", "w") as file:
    json.dump(posteriors, file, indent=1)
