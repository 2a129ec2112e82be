"""Writes families.csv: ln p(y | eta, nuisance) of every family with its derivatives by eta and by ln nuisance.

Densities are written as probabilities, not as logarithms, and differentiated numerically by mpmath at 60 digits; the
program's formulas appear nowhere. Run in this folder. For binomial the nuisance is the number of trials; for student_t
the degrees of freedom are 4.
"""

from mpmath import binomial, diff, exp, factorial, gamma, log, mp, mpf, ncdf, npdf, nstr, pi, sqrt

mp.dps = 60


def student(y, eta, s):
    z, nu = (y - eta) / s, 4
    return gamma(mpf(nu + 1) / 2) / (gamma(mpf(nu) / 2) * sqrt(nu * pi) * s) * (1 + z**2 / nu) ** (-mpf(nu + 1) / 2)


def negative_binomial(y, eta, r):
    mean = exp(eta)
    return gamma(y + r) / (gamma(r) * factorial(y)) * (mean / (mean + r)) ** y * (r / (mean + r)) ** r


FAMILIES = {
    "gaussian": lambda y, eta, s: npdf(y, eta, s),
    "student_t": student,
    "logit": lambda y, eta, s: 1 / (1 + exp(-eta)) if y == 1 else 1 / (1 + exp(eta)),
    "probit": lambda y, eta, s: ncdf(eta) if y == 1 else ncdf(-eta),
    "binomial": lambda y, eta, n: binomial(n, y) * (1 / (1 + exp(-eta))) ** y * (1 / (1 + exp(eta))) ** (n - y),
    "poisson": lambda y, eta, s: exp(eta) ** y * exp(-exp(eta)) / factorial(y),
    "negative_binomial": negative_binomial,
    "gamma": lambda y, eta, a: (a / exp(eta)) ** a * y ** (a - 1) * exp(-a * y / exp(eta)) / gamma(a),
}
RESPONSES = {
    "gaussian": [-3, 0.25, 40],
    "student_t": [-3, 0.25, 40],
    "logit": [0, 1],
    "probit": [0, 1],
    "binomial": [0, 3, 7],
    "poisson": [0, 1, 12, 300],
    "negative_binomial": [0, 1, 12, 300],
    "gamma": [0.001, 1.5, 90],
}

with open("families.csv", "w") as file:
    file.write("family,y,eta,nuisance,log_density,by_eta,by_log_nuisance\n")
    for name, density in FAMILIES.items():
        for y in RESPONSES[name]:
            for eta in [-6, -0.75, 0, 0.3, 2, 5.5]:
                for nuisance in [7] if name == "binomial" else [0.2, 1, 3.5]:
                    if name in ("logit", "probit", "poisson") and nuisance != 1:
                        continue
                    y_, eta_, nuisance_ = mpf(y), mpf(eta), mpf(nuisance)
                    value = log(density(y_, eta_, nuisance_))
                    by_eta = diff(lambda t: log(density(y_, t, nuisance_)), eta_)
                    by_log = diff(lambda t: log(density(y_, eta_, nuisance_ * exp(t))), 0) if name in (
                        "gaussian", "student_t", "negative_binomial", "gamma") else mpf(0)
                    cells = [nstr(x, 20) for x in (y_, eta_, nuisance_, value, by_eta, by_log)]
                    file.write(",".join([name, *cells]) + "\n")
