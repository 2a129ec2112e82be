"""Writes gamma.csv: x, ln Gamma(x), psi(x), psi'(x), by mpmath at 40 digits. Run in this folder."""

from mpmath import digamma, loggamma, mp, mpf, nstr, polygamma

mp.dps = 40
points = [mpf(k) / 8 for k in range(1, 33)] + [mpf(10) ** k for k in range(-6, 13)] + [mpf("7.3"), mpf("50.01"), mpf(300)]
with open("gamma.csv", "w") as file:
    file.write("x,ln_gamma,digamma,trigamma\n")
    for x in points:
        x = mpf(float(x))
        row = [x, loggamma(x), digamma(x), polygamma(1, x)]
        file.write(",".join(nstr(value, 20) for value in row) + "\n")
