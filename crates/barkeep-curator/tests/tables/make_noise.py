"""Writes noise.csv: masses and moments of the rounded normal and the discrete Gaussian, to 20 digits.

python3 make_noise.py > noise.csv        (needs mpmath; about a minute)

Rows: law, sigma, "bin", upper end (inclusive, or inf), probability of the bin that starts after the previous row's end;
      law, sigma, "moment", order, E (z/sigma)^order.
Up to sigma = 1024 everything is summed over the integers. Beyond, the discrete Gaussian's sums are integrals with the
Euler-Maclaurin correction, and moments are those of X + V (rounded normal, V uniform on [-1/2, 1/2]) and of X (discrete
Gaussian): Poisson summation puts both within exp(-2 pi^2 sigma^2) of the truth. Both shortcuts are checked against the
sums at sigma = 1024.
"""

from mpmath import erf, erfinv, exp, factorial, floor, inf, mp, mpf, nstr, pi, sqrt

mp.dps = 40

SIGMAS = [0.5, 0.7, 1.0, 1.5, 10.0, 1024.0, 1000003.7, 2.0**30, 2.0**50, 1.3 * 2.0**50]
DRAWS = 300_000  # as in noise_tests.rs: no bin expects fewer than 20


def weight(z, s):
    return exp(-(mpf(z) ** 2) / (2 * s * s))


def cumulative_normal(b, s):
    """P(round(X) <= b)."""
    return (1 + erf((mpf(b) + mpf(1) / 2) / (s * sqrt(2)))) / 2


def weight_up_to(b, s):
    """Sum of weights over 0..b for b >= 0, by Euler-Maclaurin; odd derivatives vanish at 0."""
    b = mpf(b)
    f = weight(b, s)
    first = -b / s**2 * f
    third = (3 * b / s**4 - b**3 / s**6) * f
    return sqrt(pi / 2) * s * erf(b / (s * sqrt(2))) + (1 + f) / 2 + first / 12 - third / 720


def cumulative_discrete(s):
    if s <= 1024:
        reach = int(20 * s) + 20
        running, table = mpf(0), {}
        for z in range(-reach, reach + 1):
            running += weight(z, s)
            table[z] = running
        return lambda b: table[b] / running
    total = 2 * weight_up_to(floor(30 * s), s) - 1

    def cumulative(b):
        if b >= 0:
            return (weight_up_to(b, s) + total / 2 - mpf(1) / 2) / total
        return 1 - cumulative(-b - 1)

    return cumulative


def normal_moment(order):
    return factorial(order) / (2 ** (order // 2) * factorial(order // 2))


def smooth_moment(law, s, order):
    if law == "discrete-gaussian":
        return normal_moment(order)
    # X + V: binomial sum over even moments; E V^j = 1 / (2^j (j + 1)).
    binomial = lambda j: factorial(order) / (factorial(j) * factorial(order - j))
    return sum(binomial(j) * normal_moment(order - j) / (mpf(2) ** j * (j + 1)) / s**j for j in range(0, order + 1, 2))


def summed_moment(mass, s, order):
    reach = int(20 * s) + 20
    return 2 * sum(mass(z) * (z / s) ** order for z in range(1, reach + 1))


def ends(cumulative, s):
    if s <= 10:
        lowest = 0
        while cumulative(lowest - 1) * DRAWS >= 20:
            lowest -= 1
        return list(range(lowest, -lowest))
    return [int(floor(s * sqrt(2) * erfinv(mpf(2 * i) / 64 - 1))) for i in range(1, 64)]


def check_shortcuts():
    s = mpf(1024)
    cumulative = cumulative_discrete(s)
    total = 2 * weight_up_to(floor(30 * s), s) - 1
    for b in (0, 77, 1024, 3000):
        assert abs((weight_up_to(b, s) + total / 2 - mpf(1) / 2) / total - cumulative(b)) < mpf(10) ** -20
    for law, table in (("discrete-gaussian", cumulative), ("rounded-normal", lambda b: cumulative_normal(b, s))):
        for order in (2, 8):
            summed = summed_moment(lambda z: table(z) - table(z - 1), s, order)
            assert abs(summed / smooth_moment(law, s, order) - 1) < mpf(10) ** -20, (law, order)


check_shortcuts()
for sigma in SIGMAS:
    s = mpf(sigma)
    for law in ("rounded-normal", "discrete-gaussian"):
        cumulative = (lambda b: cumulative_normal(b, s)) if law == "rounded-normal" else cumulative_discrete(s)
        previous = mpf(0)
        for end in ends(cumulative, s):
            print(f"{law},{sigma!r},bin,{end},{nstr(cumulative(end) - previous, 20)}")
            previous = cumulative(end)
        print(f"{law},{sigma!r},bin,inf,{nstr(1 - previous, 20)}")
        for order in (2, 4, 6, 8):
            if s <= 10:
                value = summed_moment(lambda z: cumulative(z) - cumulative(z - 1), s, order)
            else:
                value = smooth_moment(law, s, order)
            print(f"{law},{sigma!r},moment,{order},{nstr(value, 20)}")
