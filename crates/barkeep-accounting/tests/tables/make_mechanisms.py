"""Writes mechanisms.jsonl: epsilon of mechanisms by other means than the accountant's.

    pip install mpmath numpy dp-accounting
    python3 make_mechanisms.py > mechanisms.jsonl

A line holds a cost as a contract writes it, the steps, delta, and an interval that contains the true epsilon:

* one step on a batch: the hockey-stick divergence in closed form at 60 digits, inverted by bisection (mpmath);
* lists of losses (categorical answers, discrete Laplace, black boxes): every composition enumerated at 60 digits;
* the exponential mechanism: the supremum over all pairs of a bounded range, by golden section at 60 digits, for one step; for two
  and three steps the recursion over adaptive attacks, searched anew at every node; for more, between the best attack that asks the
  same question every time (Dong, Durfee, Rogers 2020) and the recursion on a grid, its chords above the curve;
* Poisson batches of limited size: between the pair that is attained and the mixture that is proved, one step at 60 digits, several by
  dp_accounting, whose mixture is looser;
* Laplace noise on batches over several steps: dp_accounting, pessimistic and optimistic;
* rho: the Renyi conversion at the best order, by golden section at 60 digits.
"""

import json
import math
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


def adaptive(r, steps):
    """delta of so few steps that each may choose its coin anew: F_1 in closed form, then searched."""

    def first(x):
        if x <= math.exp(-r):
            return 1 - x
        if x >= math.exp(r):
            return 0.0
        root = math.sqrt(x * math.exp(r))
        u = (root - 1) / (math.exp(r) - root)
        return 1 / (1 + u) - x / (1 + math.exp(r) * u)

    def after(inner):
        def at(x):
            def value(t):
                p, q = 1 / (1 + math.exp(-t)), 1 / (1 + math.exp(-t + r))
                return p * inner(x * q / p) + (1 - p) * inner(x * (1 - q) / (1 - p))

            places = [-12 + 0.75 * i for i in range(33)]
            best = max(places, key=lambda t: max(value(t), value(t + r)))
            low, high = best - 1, best + 1 + r
            ratio = (math.sqrt(5) - 1) / 2
            for _ in range(36):
                a, b = high - ratio * (high - low), low + ratio * (high - low)
                low, high = (low, b) if value(a) > value(b) else (a, high)
            # Exchanging the data sets mirrors the coin: the same family.
            return value((low + high) / 2)

        return at

    curve = first
    for _ in range(steps - 1):
        curve = after(curve)
    return lambda epsilon: curve(math.exp(epsilon))


def same_question(r, steps):
    """The best attack that asks for the same coin every time."""

    def delta(epsilon):
        def at(t):
            log_p, log_q = -math.log1p(math.exp(-t)), -math.log1p(math.exp(-t + r))
            log_np, log_nq = -math.log1p(math.exp(t)), -math.log1p(math.exp(t - r))
            total = 0.0
            for k in range(steps + 1):
                ways = math.comb(steps, k)
                ahead = math.exp(k * log_p + (steps - k) * log_np)
                behind = math.exp(epsilon + k * log_q + (steps - k) * log_nq)
                total += ways * max(0.0, ahead - behind)
            return total

        return max(at(r / 2 + 0.01 * i) for i in range(-400, 401))

    return delta


def recursion(r, steps, nodes=8001, coins=1201):
    """The same by a table over ln x, linear in x between nodes: from above, up to the coins left out."""
    import numpy as np

    logs = np.linspace(-(steps + 1) * r, (steps + 1) * r, nodes)
    x = np.exp(logs)
    values = np.maximum(0.0, 1 - x)
    for _ in range(steps):
        after = np.zeros(nodes)
        for t in np.linspace(r / 2 - 6, r / 2 + 6, coins):
            p, q = 1 / (1 + math.exp(-t)), 1 / (1 + math.exp(-t + r))
            for a, b in ((p, q), (1 - q, 1 - p)):
                one = np.interp(x * b / a, x, values, left=1.0)
                other = np.interp(x * (1 - b) / (1 - a), x, values, left=1.0)
                after = np.maximum(after, a * one + (1 - a) * other)
        values = after
    return lambda epsilon: float(np.interp(math.exp(epsilon), x, values))


def root(curve, delta, high):
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if curve(middle) > delta else (low, middle)
    return high


def binomial_tail(n, q, least):
    """P(Bin(n, q) >= least), summed from below or from above, whichever is shorter."""
    q = mp.mpf(q)
    term = lambda k: mp.binomial(n, k) * q**k * (1 - q) ** (n - k)
    if least > n * q:
        total, k = mp.mpf(0), least
        while k <= n:
            one = term(k)
            total += one
            if one < total * mp.mpf(10) ** -40:
                break
            k += 1
        return total
    return 1 - mp.fsum(term(k) for k in range(least))


def truncated(ratio, rate, most, records, neighbours):
    """The curve that is attained, where other records say nothing, and the mixture that is proved."""
    c, q = 1 / mp.mpf(ratio), mp.mpf(rate)
    cut = binomial_tail(records - 1, rate, most)
    exchanged = most * binomial_tail(records, rate, most + 1) / records
    seen = q * (1 - cut) + exchanged
    if neighbours == "add-remove":
        low = amplified(lambda e: gaussian(e, c), seen)
        plain, other = amplified(lambda e: gaussian(e, c), q), amplified(lambda e: gaussian(e, 2 * c), q)
    else:
        low = substituted(seen, c / 2)
        plain, other = substituted(q, c / 2), amplified(lambda e: gaussian(e, c), exchanged / cut)
    return low, lambda e: (1 - cut) * plain(e) + cut * other(e), float(cut), float(seen)


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
    for spread, steps, delta in [(0.5, 2, 1e-6), (1.0, 2, 1e-3), (0.3, 3, 1e-5), (2.0, 3, 1e-6)]:
        epsilon = root(adaptive(spread, steps), delta, steps * spread)
        mechanism = {"exponential": {"range": spread}}
        line(mechanism, "full", "substitute", steps, delta, epsilon * (1 - 1e-9), epsilon * (1 + 1e-9), "search")
    for spread, steps, delta in [(0.2, 10, 1e-6), (0.5, 25, 1e-5), (1.0, 8, 1e-4)]:
        low = root(same_question(spread, steps), delta, steps * spread)
        high = root(recursion(spread, steps), delta, steps * spread)
        line({"exponential": {"range": spread}}, "full", "substitute", steps, delta, low, high, "recursion")
    limited = [
        (1.0, 0.01, 120, 10000, "add-remove", 1e-6),
        (1.0, 0.01, 150, 10000, "add-remove", 1e-6),
        (0.8, 0.1, 90, 800, "add-remove", 1e-5),
        (2.0, 0.05, 40, 500, "add-remove", 1e-7),
        (1.0, 0.01, 130, 10000, "substitute", 1e-6),
        (0.8, 0.1, 90, 800, "substitute", 1e-5),
        (2.0, 0.05, 20, 500, "substitute", 1e-7),
    ]
    for ratio, rate, most, records, neighbours, delta in limited:
        low, high, _, _ = truncated(ratio, rate, most, records, neighbours)
        mechanism = {"truncated-gaussian": {"ratio": ratio, "rate": rate, "most": most, "records": records}}
        ends = [bisect(curve, mp.mpf(delta)) for curve in (low, high)]
        line(mechanism, {"poisson": {"rate": rate}}, neighbours, 1, delta, *ends, "mpmath")
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
    for ratio, rate, most, records, steps, delta in [
        (1.0, 0.01, 150, 10000, 1000, 1e-6),
        (0.8, 0.05, 700, 10000, 100, 1e-5),
        (1.5, 0.02, 120, 5000, 2000, 1e-6),
    ]:
        _, _, _, seen = truncated(ratio, rate, most, records, "add-remove")
        low = pld.from_gaussian_mechanism(
            ratio, value_discretization_interval=1e-4, pessimistic_estimate=False, sampling_prob=seen
        )
        high = pld.from_truncated_subsampled_gaussian_mechanism(records, rate, most, ratio)
        ends = [one.self_compose(steps).get_epsilon_for_delta(delta) for one in (low, high)]
        mechanism = {"truncated-gaussian": {"ratio": ratio, "rate": rate, "most": most, "records": records}}
        line(mechanism, {"poisson": {"rate": rate}}, "add-remove", steps, delta, *ends, "dp_accounting")


if __name__ == "__main__":
    main()
