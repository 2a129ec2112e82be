"""Predictions at public profiles: they follow from draws and cost nothing more."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _barkeep


class Predictions(Mapping[str, dict[str, Any]]):
    """Expectations and intervals by profile, with contrasts, curves and average effects."""

    def __init__(self, found: dict[str, Any], words: str) -> None:
        self._json = found
        self._words = words
        #: What is predicted.
        self.what: str = found["what"]
        #: Each profile compared with one of them.
        self.contrasts: list[dict[str, Any]] = found["contrasts"]
        #: Each profile with a column moved over its bounds or levels.
        self.curves: list[dict[str, Any]] = found["curves"]
        #: The average effect of each column that was followed.
        self.effects: list[dict[str, Any]] = found["effects"]
        self._rows = {row["profile"]: row for row in found["predictions"]}

    def to_dict(self) -> dict[str, Any]:
        """Everything, as ``barkeep predict --json`` prints it."""
        return dict(self._json)

    def __getitem__(self, profile: str) -> dict[str, Any]:
        return self._rows[profile]

    def __iter__(self) -> Any:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return self._words.rstrip("\n")

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def rows(profiles: Any) -> list[tuple[str, list[tuple[str, str]]]]:
    """Profiles as the engine reads them: a name, and cells by column."""
    if isinstance(profiles, (str, os.PathLike)):
        import csv

        with open(profiles, encoding="utf-8-sig", newline="") as file:
            return rows(list(csv.DictReader(file)))
    if isinstance(profiles, Mapping):
        first = next(iter(profiles.values()), None)
        if isinstance(first, Mapping):
            return [(str(name), _cells(cells)) for name, cells in profiles.items()]
        if isinstance(first, (list, tuple)) or hasattr(first, "tolist"):
            columns = {name: list(cells) for name, cells in profiles.items()}
            return rows([dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)])
        return rows([profiles])
    if hasattr(profiles, "to_dicts"):
        return rows(profiles.to_dicts())
    if hasattr(profiles, "to_pylist"):
        return rows(profiles.to_pylist())
    if hasattr(profiles, "to_dict"):
        return rows(profiles.to_dict(orient="records"))
    return _listed(profiles)


def _listed(profiles: Iterable[Mapping[str, Any]]) -> list[tuple[str, list[tuple[str, str]]]]:
    listed = []
    for place, cells in enumerate(profiles, start=1):
        name = str(cells.get("profile") or place)
        listed.append((name, _cells({key: value for key, value in cells.items() if key != "profile"})))
    return listed


def _cells(cells: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(column, _written(value)) for column, value in cells.items()]


def _written(value: Any) -> str:
    plain = value.item() if hasattr(value, "item") else value
    return str(plain).lower() if isinstance(plain, bool) else str(plain)


def predict(folder: str, profiles: Any, against: str | None, along: Iterable[str], points: int) -> Predictions:
    """Asks the engine."""
    found, words = _barkeep.predict(folder, rows(profiles), against, list(along), points)
    return Predictions(json.loads(found), words)
