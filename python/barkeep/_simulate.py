"""Made-up records of a model: public, since they are nobody's."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

from . import _barkeep
from ._model import Model
from ._privacy import Privacy
from ._records import Records
from ._schema import Bool, Integer, Real, Schema, _json


def simulate(
    model: Model,
    schema: Schema,
    count: int,
    theta: Sequence[float],
    path: Any = None,
    *,
    seed: int = 0,
    person: str | None = None,
    most_rows: int | None = None,
) -> dict[str, Any] | None:
    """Records of a model at the parameters ``theta``, by column, or in the CSV file ``path``: to rehearse on.

    Columns beside the responses are spread evenly over what is ``typical`` of them, their bounds or their levels.

    >>> schema = Schema(late=Bool(invalid=False), hour=Integer(5, 23, invalid=12, typical=(7, 20)))
    >>> made = simulate(Model("late ~ hour", family="bernoulli"), schema, 1000, [-1, 0.1])
    >>> sorted(made), made["hour"].min() >= 7
    (['hour', 'late'], np.True_)
    """
    if path is None:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "made.csv")
            simulate(model, schema, count, theta, place, seed=seed, person=person, most_rows=most_rows)
            return _read(place, schema)
    records = Records({}, schema, count, person=person, most_rows=most_rows)
    sections = model._sections(records, Privacy.not_private(), None)
    numbers = [float(value) for value in theta]
    filling = _barkeep.simulate(_json(sections), numbers, count, seed, os.fspath(path))
    if filling:
        warnings.warn(
            f"{', '.join(filling)} fill their bounds here. Real columns seldom do, so that a rehearsal on these records flatters; say "
            "where most values lie: typical=(low, high)",
            stacklevel=2,
        )
    return None


def _read(path: str, schema: Schema) -> dict[str, Any]:
    """The columns of a file that was made here."""
    import csv

    import numpy as np

    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    columns: dict[str, Any] = {}
    for name, cells in zip(header, zip(*rows, strict=True), strict=True):
        column = schema.get(name)
        if isinstance(column, Bool):
            columns[name] = np.array([cell == "true" for cell in cells])
        elif isinstance(column, Integer):
            columns[name] = np.array([round(float(cell)) for cell in cells])
        elif isinstance(column, Real):
            columns[name] = np.array([float(cell) for cell in cells])
        else:
            columns[name] = np.array(cells)
    return columns
