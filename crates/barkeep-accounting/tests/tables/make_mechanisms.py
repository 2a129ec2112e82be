"""Writes mechanisms.jsonl: epsilon of mechanisms by other means than the accountant's.

    pip install mpmath dp-accounting
    python3 make_mechanisms.py > mechanisms.jsonl

A line holds a cost as a contract writes it, the steps, delta, and an interval that contains the true epsilon:

* one step on a batch: the hockey-stick divergence in closed form at 60 digits, inverted by bisection (mpmath);
* lists of losses (categorical answers, discrete Laplace, black boxes): every composition enumerated at 60 digits;
* the exponential mechanism: the supremum over all pairs of a bounded range, by golden section at 60 digits, for one step;
* Laplace noise on batches over several steps: dp_accounting, pessimistic and optimistic;
* rho: the Renyi conversion at the best order, by golden section at 60 digits.
"""

import json
import random

import mpmath as mp

mp.mp.dps = 60


def tail(y):
    return mp.erfc(y / mp.sqrt(2)) / 2


def bisect(delta_at, delta, high=mp.mpf(1)):
    if delta_at(mp.mpf(0)) <= delta:
        return mp.mpf(0)
    while delta_at(high) > delta:
        high *= 2
    low = mp.mpf(0)
    while high - low > mp.mpf(10) ** -30 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if delta_at(middle) > delta else (low, middle)
    return high


def gaussian(epsilon, c):
    """H of N(c, 1) against N(0, 1)."""
    y = c / 2 + epsilon / c
    return tail(y - c) - mp.exp(epsilon) * tail(y)


def amplified(base, q):
    """Remove direction, which is the worse one: q times the curve at ln(1 + (e^eps - 1)/q)."""
    return lambda epsilon: q * base(mp.log1p(mp.expm1(epsilon) / q))


def substituted(q, c):
    """(1-q)N(0)+qN(c) against (1-q)N(0)+qN(-c)."""

    def delta(epsilon):
        a = mp.exp(epsilon)

        def excess(y):
            up, down = mp.exp(c * y - c * c / 2), mp.exp(-c * y - c * c / 2)
            return (1 - q) + q * up - a * ((1 - q) + q * down)

        low, high = mp.mpf(-1), mp.mpf(1)
        while excess(high) < 0:
            high *= 2
        while excess(low) > 0:
            low *= 2
        for _ in range(220):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) < 0 else (low, middle)
        return (1 - q) * (1 - a) * tail(low) + q * tail(low - c) - a * q * tail(low + c)

    return delta


def laplace(ratio):
    return lambda epsilon: max(mp.mpf(0), 1 - mp.exp((epsilon - 1 / ratio) / 2))


def listed(atoms, infinite, steps):
    """atoms: {index: (loss of an index unit, probability)} with losses index * unit."""
    unit, masses = atoms
    total = {0: mp.mpf(1)}
    for _ in range(steps):
        after = {}
        for place, mass in total.items():
            for index, one in masses.items():
                after[place + index] = after.get(place + index, mp.mpf(0)) + mass * one
        total = after
    gone = 1 - (1 - infinite) ** steps

    def delta(epsilon):
        return gone + sum(
            mass * (1 - mp.exp(epsilon - place * unit)) for place, mass in total.items() if place * unit > epsilon
        )

    return delta


def categorical(options, epsilon):
    whole = mp.exp(epsilon) + options - 1
    return epsilon, {1: mp.exp(epsilon) / whole, 0: (options - 2) / whole, -1: 1 / whole}


def discrete_laplace(scale, sensitivity):
    r = mp.exp(-1 / scale)
    norm = (1 - r) / (1 + r)
    masses = {}
    # |z - D| - |z| in units of 1/scale; far tails in closed form.
    for z in range(1, sensitivity):
        masses[sensitivity - 2 * z] = norm * r**z
    masses[sensitivity] = masses.get(sensitivity, 0) + norm / (1 - r)
    masses[-sensitivity] = masses.get(-sensitivity, 0) + norm * r**sensitivity / (1 - r)
    return 1 / scale, masses


def black_box(epsilon, delta):
    unit, masses = categorical(2, epsilon)
    return unit, {index: mass * (1 - delta) for index, mass in masses.items() if index != 0}


def golden(f, low, high, most=True):
    ratio = (mp.sqrt(5) - 1) / 2
    for _ in range(300):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        if (f(a) > f(b)) == most:
            high = b
        else:
            low = a
    return f((low + high) / 2)


def bounded_range(r):
    """The largest p - e^eps*q over coins whose log-odds differ by r."""

    def delta(epsilon):
        def excess(log_odds):
            p, q = 1 / (1 + mp.exp(-log_odds)), 1 / (1 + mp.exp(-log_odds + r))
            return p - mp.exp(epsilon) * q

        return max(mp.mpf(0), golden(excess, mp.mpf(-60), mp.mpf(60)))

    return delta


def concentrated(rho, delta):
    def at(log_gain):
        a = 1 + mp.exp(log_gain)
        return rho * a + mp.log1p(-1 / a) - (mp.log(delta) + mp.log(a)) / (a - 1)

    return golden(at, mp.mpf(-12), mp.mpf(12), most=False)


def line(mechanism, sampling, neighbours, steps, delta, low, high, source):
    cost = {"mechanism": mechanism, "sampling": sampling, "neighbours": neighbours}
    print(
        json.dumps(
            {
                "cost": cost,
                "steps": steps,
                "delta": float(delta),
                "epsilon": [float(low), float(high)],
                "source": source,
            }
        )
    )


def exact(mechanism, sampling, neighbours, steps, delta, curve, source="mpmath"):
    epsilon = bisect(curve, mp.mpf(delta))
    line(mechanism, sampling, neighbours, steps, delta, epsilon, epsilon, source)


def one_step(count):
    for number in range(count):
        ratio = float(f"{10 ** random.uniform(-0.5, 1.2):.3g}")
        rate = float(f"{10 ** random.uniform(-6, -0.05):.3g}")
        delta = float(f"{10 ** random.uniform(-10, -3):.3g}")
        c, q = 1 / mp.mpf(ratio), mp.mpf(rate)
        kind = ["add-remove", "without", "substitute"][number % 3]
        mechanism = {"gaussian": {"ratio": ratio}}
        if kind == "add-remove":
            sampling = {"poisson": {"rate": rate}}
            exact(mechanism, sampling, kind, 1, delta, amplified(lambda e: gaussian(e, c), q))
        elif kind == "without":
            records = 10**9
            batch = max(1, round(rate * records))
            q = mp.mpf(batch) / records
            sampling = {"without-replacement": {"batch": batch, "records": records}}
            exact(mechanism, sampling, "substitute", 1, delta, amplified(lambda e: gaussian(e, c), q))
        else:
            sampling = {"poisson": {"rate": rate}}
            exact(mechanism, sampling, "substitute", 1, delta, substituted(q, c / 2))


def main():
    random.seed(18)
    one_step(240)
    for ratio, delta in [(2.0, 1e-6), (0.5, 1e-6), (10.0, 1e-3), (1.0, 1e-9)]:
        exact({"laplace": {"ratio": ratio}}, "full", "substitute", 1, delta, laplace(mp.mpf(ratio)))
        for rate in [0.5, 0.01, 1e-4]:
            curve = amplified(laplace(mp.mpf(ratio)), mp.mpf(rate))
            mechanism = {"laplace": {"ratio": ratio}}
            exact(mechanism, {"poisson": {"rate": rate}}, "add-remove", 1, delta, curve)
            sampling = {"without-replacement": {"batch": round(rate * 10**4), "records": 10**4}}
            exact(mechanism, sampling, "substitute", 1, delta, curve)
    for options, epsilon, steps, delta in [(2, 1.0, 1, 1e-6), (3, 0.5, 10, 1e-5), (5, 1.0, 20, 1e-6), (1000, 3.0, 5, 1e-8)]:
        curve = listed(categorical(options, mp.mpf(epsilon)), mp.mpf(0), steps)
        mechanism = {"categorical-response": {"options": options, "epsilon": epsilon}}
        exact(mechanism, "full", "substitute", steps, delta, curve)
    for scale, sensitivity, steps, delta in [(2.0, 1, 1, 1e-6), (2.0, 3, 10, 1e-6), (20.0, 5, 30, 1e-5), (0.7, 2, 4, 1e-9)]:
        curve = listed(discrete_laplace(mp.mpf(scale), sensitivity), mp.mpf(0), steps)
        mechanism = {"discrete-laplace": {"scale": scale, "sensitivity": sensitivity}}
        exact(mechanism, "full", "substitute", steps, delta, curve)
    for epsilon, loose, steps, delta in [(0.1, 1e-8, 10, 1e-6), (0.5, 1e-7, 30, 1e-5), (1.0, 0.0, 7, 1e-6), (0.01, 0.0, 200, 1e-6)]:
        curve = listed(black_box(mp.mpf(epsilon), mp.mpf(loose)), mp.mpf(loose), steps)
        mechanism = {"approximate": {"epsilon": epsilon, "delta": loose or None}}
        exact(mechanism, "full", "substitute", steps, delta, curve)
        if not loose:
            exact({"noisy-max": {"range": epsilon}}, "full", "substitute", steps, delta, curve)
    for spread, delta in [(0.1, 1e-6), (1.0, 1e-3), (4.0, 1e-6)]:
        exact({"exponential": {"range": spread}}, "full", "substitute", 1, delta, bounded_range(mp.mpf(spread)))
    for rho, steps, delta in [(0.1, 1, 1e-6), (0.01, 10, 1e-8)]:
        epsilon = concentrated(mp.mpf(rho) * steps, mp.mpf(delta))
        line({"concentrated": {"rho": rho}}, "full", "substitute", steps, delta, epsilon, epsilon, "mpmath")
    try:
        from dp_accounting.pld import privacy_loss_distribution as pld
    except ImportError:
        return
    for ratio, rate, steps, delta in [(1.0, 0.01, 100, 1e-6), (2.0, 0.1, 50, 1e-5), (0.5, 0.001, 300, 1e-6)]:
        ends = []
        for pessimistic in (False, True):
            one = pld.from_laplace_mechanism(
                ratio, value_discretization_interval=1e-4, pessimistic_estimate=pessimistic, sampling_prob=rate
            )
            ends.append(one.self_compose(steps).get_epsilon_for_delta(delta))
        mechanism = {"laplace": {"ratio": ratio}}
        line(mechanism, {"poisson": {"rate": rate}}, "add-remove", steps, delta, *ends, "dp_accounting")


if __name__ == "__main__":
    main()
