"""Made-up trips, and the program's own answer on them."""

from __future__ import annotations

import numpy as np
import pytest

import barkeep as bk

TRIPS = 3000


@pytest.fixture(scope="session")
def schema() -> bk.Schema:
    return bk.Schema(
        late=bk.Bool(invalid=False),
        hour=bk.Integer(5, 23, invalid=12, scale="bounds"),
        origin=bk.Category(["EWR", "JFK", "LGA"], invalid="EWR"),
        distance=bk.Real(0, 5000, invalid=1000, scale="bounds"),
    )


@pytest.fixture(scope="session")
def model() -> bk.Model:
    return bk.Model("late ~ hour + origin + distance", family="bernoulli")


@pytest.fixture(scope="session")
def privacy() -> bk.Privacy:
    return bk.Privacy(epsilon=1, delta=1e-6)


@pytest.fixture(scope="session")
def trips() -> dict[str, np.ndarray]:
    """Rows without a missing cell, of NumPy's own types."""
    rng = np.random.default_rng(7)
    hour = rng.integers(3, 26, TRIPS)
    origin = rng.choice(["EWR", "JFK", "LGA", "BOS"], TRIPS)
    distance = rng.normal(1500, 1200, TRIPS)
    late = rng.random(TRIPS) < 1 / (1 + np.exp(-(0.15 * (hour - 14) - 0.3 * (origin == "JFK"))))
    return {"late": late, "hour": hour, "origin": origin, "distance": distance, "unused": rng.random(TRIPS)}


def written(frame: dict[str, np.ndarray], path: str) -> str:
    """The rows as a CSV file, every number in full."""
    cells = [[str(cell) if not isinstance(cell, (bool, np.bool_)) else str(bool(cell)).lower() for cell in column.tolist()]
             for column in frame.values()]
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(frame) + "\n")
        file.writelines(",".join(row) + "\n" for row in zip(*cells, strict=True))
    return path
