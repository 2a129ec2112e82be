"""Simulates three data sets, each with a response of every family, and fits each by maximum likelihood.

Run in this folder: python3 make.py   (numpy, pandas, scipy, statsmodels)

statsmodels fits all families but Student's t (degrees of freedom 4), whose likelihood scipy maximises; the gamma's shape is
the root of its likelihood equation. The formula is x1 + x2 + g + x1:g, treatment coding, the first level as reference; counts
have the offset o. Nuisances are given as logarithms: of the standard deviation (maximum likelihood, not unbiased), the scale,
the size 1/alpha and the shape.
"""

import json

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy import optimize, special, stats

FITS = {}
for number, (n, spread, seed) in enumerate([(300, 1.0, 1), (500, 0.5, 2), (900, 2.0, 3)], start=1):
    random = np.random.default_rng(seed)
    x1 = np.round(random.uniform(-1, 1, n), 4)
    x2 = np.round(random.normal(0, 0.5, n).clip(-2, 2), 4)
    g = random.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    o = np.round(random.uniform(-1, 1, n), 4)
    m = random.integers(1, 15, n)
    b, c = (g == "b").astype(float), (g == "c").astype(float)
    X = np.column_stack([np.ones(n), x1, x2, b, c, x1 * b, x1 * c])
    beta = random.normal(0, 0.6, 7)
    eta = X @ beta
    mean = np.exp(eta)
    data = pd.DataFrame({"x1": x1, "x2": x2, "g": g, "o": o, "m": m})
    data["gaussian"] = np.round(eta + spread * random.normal(size=n), 6)
    data["student_t"] = np.round(eta + spread * random.standard_t(4, n), 6)
    data["logit"] = (random.uniform(size=n) < special.expit(eta)).astype(int)
    data["probit"] = (random.uniform(size=n) < special.ndtr(eta)).astype(int)
    data["binomial"] = random.binomial(m, special.expit(eta))
    data["poisson"] = random.poisson(mean * np.exp(o))
    size = 2.5 / spread
    data["negative_binomial"] = random.negative_binomial(size, size / (size + mean * np.exp(o)))
    data["exponential"] = np.round(mean * random.exponential(size=n), 6).clip(1e-6)
    shape = 1.5 + spread
    data["gamma"] = np.round(mean * random.gamma(shape, 1 / shape, n), 6).clip(1e-6)
    data.to_csv(f"data{number}.csv", index=False)

    log, fit = sm.families.links.Log(), {}
    tight = {"tol": 1e-14, "maxiter": 1000}
    ols = sm.OLS(data.gaussian, X).fit()
    fit["gaussian"] = [*ols.params, 0.5 * np.log(np.mean(ols.resid**2))]

    def minus_student(theta):
        return -stats.t.logpdf(data.student_t, 4, X @ theta[:7], np.exp(theta[7])).sum()

    start = [*sm.OLS(data.student_t, X).fit().params, 0.0]
    found = optimize.minimize(minus_student, start, method="BFGS", options={"gtol": 1e-9, "maxiter": 10000})
    found = optimize.minimize(minus_student, found.x, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 40000})
    fit["student_t"] = list(found.x)
    fit["logit"] = list(sm.Logit(data.logit, X).fit(disp=0, method="newton", tol=1e-13).params)
    fit["probit"] = list(sm.Probit(data.probit, X).fit(disp=0, method="newton", tol=1e-13).params)
    pairs = np.column_stack([data.binomial, m - data.binomial])
    fit["binomial"] = list(sm.GLM(pairs, X, family=sm.families.Binomial()).fit(**tight).params)
    fit["poisson"] = list(sm.GLM(data.poisson, X, family=sm.families.Poisson(), offset=o).fit(**tight).params)
    counts = sm.NegativeBinomial(data.negative_binomial, X, offset=o)
    begun = counts.fit(disp=0, method="bfgs", maxiter=5000, gtol=1e-10)
    params = counts.fit(start_params=begun.params, disp=0, method="newton", tol=1e-13, maxiter=500).params
    params = np.asarray(params)
    fit["negative_binomial"] = [*params[:7], -np.log(params[7])]
    for name in ("exponential", "gamma"):
        glm = sm.GLM(data[name], X, family=sm.families.Gamma(link=log)).fit(**tight)
        fit[name] = list(glm.params)
    ratio = data.gamma / np.exp(X @ np.array(fit["gamma"]))
    equation = lambda a: np.log(a) + 1 - special.digamma(a) + np.mean(np.log(ratio) - ratio)
    fit["gamma"].append(float(np.log(optimize.brentq(equation, 1e-3, 1e3, xtol=1e-14))))
    FITS[f"data{number}"] = {name: [float(value) for value in values] for name, values in fit.items()}

with open("fits.json", "w") as file:
    json.dump(FITS, file, indent=1)
