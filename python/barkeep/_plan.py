"""Plans: what a fit would cost and buy, before any record is read."""

from __future__ import annotations

import html
import json
from functools import cached_property
from typing import Any

from . import _barkeep


class Plan:
    """A run, ready to start. It cannot be edited: what is certified is what runs."""

    def __init__(self, plan: _barkeep.Plan) -> None:
        self._plan = plan

    @cached_property
    def _json(self) -> dict[str, Any]:
        return json.loads(self._plan.json())

    @property
    def epsilon(self) -> float | None:
        """ε of everything the run may ask, an upper bound; `None` for a baseline."""
        epsilon = self._json["epsilon"]
        return None if epsilon is None else epsilon["upper"]

    @property
    def budget(self) -> float:
        """ε of the budget, of which the plan uses at most all."""
        import tomllib

        return float(tomllib.loads(self.spec)["privacy"].get("epsilon", float("inf")))

    @property
    def sampler(self) -> str:
        """The sampler's name."""
        return self._json["sampler"]

    @property
    def chains(self) -> int:
        """The number of chains."""
        return self._json["chains"]

    @property
    def steps(self) -> int:
        """Steps of each chain."""
        return self._json["steps_per_chain"]

    @property
    def expected_error(self) -> float | None:
        """How far off a posterior mean is expected to be, in posterior standard deviations; `None` where nobody can say."""
        return self._json["expected_error"]

    @property
    def expected_width(self) -> float | None:
        """How many times as wide as without privacy an interval is expected to be; `None` where nobody can say."""
        return self._json["expected_width"]

    @property
    def warnings(self) -> list[str]:
        """What a person should know before spending anything."""
        return self._json["warnings"]

    @property
    def facts(self) -> dict[str, Any]:
        """Public constants of the run, by name."""
        return self._json["facts"]

    @property
    def meaning(self) -> dict[str, Any] | None:
        """What the bill means for one person."""
        return self._json["meaning"]

    @property
    def parameters(self) -> list[str]:
        """The parameters' names, in order."""
        return self._plan.parameters()

    @property
    def spec(self) -> str:
        """The whole spec in TOML, as the certificate keeps it."""
        return self._plan.toml()

    def alternatives(self) -> list[dict[str, Any]]:
        """What half and twice the ε, and ten times the records, would give."""
        return json.loads(self._plan.alternatives())

    def to_dict(self) -> dict[str, Any]:
        """Everything, as ``barkeep plan --json`` prints it."""
        return dict(self._json)

    def __repr__(self) -> str:
        return self._plan.words()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"
