"""Write convergence.json: draws and the figures ArviZ computes from them.

    python3 -m venv venv && venv/bin/pip install arviz==0.23.4 numpy==2.4.6 scipy==1.17.1
    venv/bin/python make_convergence.py

Figures come from the routines behind `arviz.summary`. Two choices of barkeep's differ from ArviZ:
- one chain: ArviZ refuses an R-hat; its split, rank and R-hat routines are called one by one, half against half;
- an indicator that is constant: ArviZ counts every draw as effective; barkeep says nothing, so the figure is null.
(`arviz.rhat` alone folds about the median of the split draws, `arviz.summary` and the R package `posterior` about
that of all draws; they differ when the number of draws is odd. barkeep follows the latter.)
Numbers are written with 17 digits and read back as the same f64.
"""

import json
import warnings

warnings.simplefilter("ignore")
import arviz  # noqa: E402
import numpy  # noqa: E402
from arviz.stats import diagnostics as parts  # noqa: E402
from scipy.signal import lfilter  # noqa: E402

random = numpy.random.default_rng(20261115)


def autoregressive(chains, draws, coefficient):
    noise = random.standard_normal((chains, draws))
    noise[:, 0] /= numpy.sqrt(1 - coefficient**2)
    return lfilter([1.0], [1.0, -coefficient], noise, axis=1)


def metropolis(chains, draws, step, starts):
    """A random walk on the standard normal: many draws repeat the one before."""
    out = numpy.empty((chains, draws))
    for chain in range(chains):
        state = starts[chain]
        for draw in range(draws):
            proposal = state + step * random.standard_normal()
            if numpy.log(random.random()) < (state**2 - proposal**2) / 2:
                state = proposal
            out[chain, draw] = state
    return out


sets = {
    "independent": random.standard_normal((4, 100)),
    "autocorrelated": autoregressive(4, 250, 0.9),
    "antithetic": autoregressive(3, 200, -0.7),
    "slow": autoregressive(2, 300, 0.995),
    "bimodal across chains": random.standard_normal((4, 100)) + numpy.array([[-3.0], [-3.0], [3.0], [3.0]]),
    "one chain wider": random.standard_normal((4, 100)) * numpy.array([[1.0], [1.0], [1.0], [4.0]]),
    "trend": random.standard_normal((2, 150)) + numpy.linspace(0, 3, 150),
    "heavy tails": random.standard_cauchy((4, 120)),
    "far from zero": 1e8 + 1e-3 * autoregressive(2, 120, 0.5),
    "small numbers": 1e-9 * autoregressive(2, 120, 0.5),
    "ties": numpy.round(2 * autoregressive(4, 101, 0.6)),
    "metropolis": metropolis(4, 175, 5.0, [0.0, 1.0, -1.0, 0.5]),
    "metropolis short": metropolis(2, 56, 2.0, [2.0, -2.0]),
    "odd number of draws": autoregressive(3, 77, 0.3),
    "one chain": autoregressive(1, 200, 0.8),
    "one odd chain": autoregressive(1, 57, 0.4),
    "two signs": numpy.where(random.random((2, 60)) < 0.5, -1.0, 1.0),
}
for length in range(4, 14):
    sets[f"{length} draws"] = autoregressive(2, length, 0.2)


def figures(draws):
    # Far from zero the rounding of a mean shows in the variance of means; subtracting a near number is exact and
    # changes neither error nor effective size.
    near = draws - draws[0, 0]
    _, _, bulk, tail, rhat = parts._multichain_statistics(draws)
    if len(draws) == 1:
        folded = numpy.abs(draws - numpy.median(draws))
        rhat = max(parts._rhat(parts._z_scale(parts._split_chains(part))) for part in (draws, folded))
    for probability in (0.05, 0.95):
        indicator = parts._split_chains(draws <= numpy.quantile(draws, probability))
        if indicator.all() or not indicator.any():
            tail = None
    probabilities = [0.05, 0.5, 0.95, 0.055, 0.945]
    quantiles = dict(zip(["q5", "q50", "q95", "low", "high"], numpy.quantile(draws, probabilities)))
    return {
        "mean": numpy.mean(draws), "sd": numpy.std(near, ddof=1), **quantiles,
        "r_hat": rhat, "ess_bulk": bulk, "ess_tail": tail, "ess_mean": arviz.ess(near, method="mean"),
        "mcse_mean": arviz.mcse(near, method="mean"),
    }


def plain(value):
    return None if value is None or not numpy.isfinite(value) else float(value)


table = [
    {
        "name": name,
        "figures": {key: plain(value) for key, value in figures(draws).items()},
        "chains": draws.tolist(),
    }
    for name, draws in sets.items()
]
with open("convergence.json", "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(entry) for entry in table) + "\n]\n")
