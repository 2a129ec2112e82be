"""Write mmd.json: pairs of samples and both estimates of MMD² at fixed kernel widths, by a direct NumPy computation.

    python3 make_mmd.py        (needs numpy)

Every kernel value enters a correctly rounded sum (math.fsum); arguments of exp are extended doubles.
"""

import json
import math

import numpy

random = numpy.random.default_rng(3)


def gram(x, y, width):
    differences = x.astype(numpy.longdouble)[:, None, :] - y.astype(numpy.longdouble)[None, :, :]
    return numpy.exp(-(differences**2).sum(axis=2) / (2 * numpy.longdouble(width) ** 2)).astype(float)


def both(x, y, width):
    xx, yy, xy = gram(x, x, width), gram(y, y, width), gram(x, y, width)
    n, m = len(x), len(y)
    cross = 2 * math.fsum(xy.ravel()) / (n * m)
    unbiased = biased = -cross
    for matrix, count in ((xx, n), (yy, m)):
        off_diagonal = matrix[~numpy.eye(count, dtype=bool)]
        unbiased += math.fsum(off_diagonal) / (count * (count - 1))
        biased += math.fsum(matrix.ravel()) / count**2
    return unbiased, biased


pairs = {
    "same law": (random.standard_normal((60, 2)), random.standard_normal((45, 2)), 1.3),
    "shifted": (random.standard_normal((50, 1)), 1 + random.standard_normal((70, 1)), 0.9),
    "wider": (random.standard_normal((40, 5)), 3 * random.standard_normal((40, 5)), 2.5),
    "apart": (random.standard_normal((20, 3)), 50 + random.standard_normal((30, 3)), 1.0),
    "narrow kernel": (random.standard_normal((25, 2)), random.standard_normal((25, 2)), 1e-3),
    "wide kernel": (random.standard_normal((25, 2)), random.standard_normal((25, 2)), 1e3),
    "repeated states": (
        numpy.repeat(random.standard_normal((15, 2)), 3, axis=0), random.standard_normal((30, 2)), 0.7),
    "far from zero": (1e6 + random.standard_normal((30, 2)), 1e6 + random.standard_normal((30, 2)), 1.1),
    "two and three": (random.standard_normal((2, 4)), random.standard_normal((3, 4)), 1.0),
    "more than a block": (random.standard_normal((3, 1)), random.standard_normal((1100, 1)), 0.8),
}
table = []
for name, (x, y, width) in pairs.items():
    unbiased, biased = both(x, y, width)
    table.append({
        "name": name, "dimension": x.shape[1], "width": width, "unbiased": unbiased, "biased": biased,
        "x": x.ravel().tolist(), "y": y.ravel().tolist(),
    })
with open("mmd.json", "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(entry) for entry in table) + "\n]\n")
