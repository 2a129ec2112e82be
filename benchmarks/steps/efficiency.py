"""Measures which length of a step buys the most effective draws under a budget: what the default of `proposal_sd` rests on.

    pip install numpy
    python3 benchmarks/steps/efficiency.py

Chains on a standard normal target, from stationarity, with steps d ~ N(0, q/D) and so E|d|^2 = q. A step is taken to cost in proportion
to q, so that a budget buys 1/q as many. Prints for each rule and dimension D the acceptance at each q and the effective draws of a budget, of the
best in the row; then the mean of the latter over all rows. A line says about a percent: the measure itself is off by some percent.
"""

import math

import numpy as np

LENGTHS = (0.1, 0.25, 0.5, 1, 2, 4, 8)


def normal_cdf(x):
    return 0.5 * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))


def accept(rule, log_ratio):
    if rule == "barker":
        return 1 / (1 + np.exp(-log_ratio))
    shifted = log_ratio / rule
    return normal_cdf(shifted - rule / 2) + np.exp(np.minimum(log_ratio, 50)) * normal_cdf(-shifted - rule / 2)


def measure(rng, rule, length, dimension, chains=150):
    """Steps for one effective draw, by the variance of the chains' means, and the share of accepted steps."""
    steps = min(int(4000 / length**0.5), 12000)
    at = rng.standard_normal((chains, dimension))
    total, accepted = np.zeros_like(at), 0.0
    for _ in range(steps):
        to = at + math.sqrt(length / dimension) * rng.standard_normal((chains, dimension))
        log_ratio = 0.5 * (at**2).sum(1) - 0.5 * (to**2).sum(1)
        moves = rng.random(chains) < accept(rule, log_ratio)
        at = np.where(moves[:, None], to, at)
        accepted += moves.mean() / steps
        total += at / steps
    return (total**2).mean() * steps, accepted


def main():
    rng = np.random.default_rng(1)
    rows = []
    for dimension in (2, 8):
        for rule in ("barker", 0.5, 1.0, 2.0):
            found = [measure(rng, rule, length, dimension) for length in LENGTHS]
            worth = [1 / (length * steps) for length, (steps, _) in zip(LENGTHS, found)]
            rows.append([each / max(worth) for each in worth])
            shown = ", ".join(f"{q}: {share:.2f} {part:.2f}" for q, (_, share), part in zip(LENGTHS, found, rows[-1]))
            print(f"D = {dimension}, {rule}: {shown}", flush=True)
    print("mean: " + ", ".join(f"{q}: {np.mean(column):.2f}" for q, column in zip(LENGTHS, zip(*rows))))


if __name__ == "__main__":
    main()
