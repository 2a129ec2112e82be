"""Models: by formula and family, by name, or written down in the model language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _barkeep
from ._fit import Fit, run
from ._plan import Plan
from ._privacy import Privacy, Sampler
from ._records import Records
from ._schema import Schema, _json


class Model:
    """How likely a record is, and what is believed before.

    A regression by ``formula`` and ``family``; one of barkeep's models by ``name``; or your own as ``text`` in the model language.
    Other keys are those of the model, as ``barkeep models`` lists them: ``link``, ``sd``, ``covariance``, ``temper`` …

    >>> Model("late ~ hour + origin", family="bernoulli", priors={"coefficients": "normal(0, 2.5)"})
    Model('late ~ hour + origin', family='bernoulli', priors={'coefficients': 'normal(0, 2.5)'})
    >>> Model(name="gaussian", covariance=0.01)
    Model(name='gaussian', covariance=0.01)
    """

    def __init__(
        self,
        formula: str | None = None,
        *,
        family: str | None = None,
        priors: Mapping[str, str] | None = None,
        link: str | None = None,
        name: str | None = None,
        text: str | None = None,
        **keys: Any,
    ) -> None:
        entry: dict[str, Any] = {
            "formula": formula,
            "family": family,
            "priors": None if priors is None else dict(priors),
            "link": link,
            "name": name,
            "text": text,
        } | keys
        self._entry = {key: value for key, value in entry.items() if value is not None}

    def __repr__(self) -> str:
        shown = [
            repr(value) if key == "formula" else f"{key}={value!r}" for key, value in self._entry.items()
        ]
        return f"Model({', '.join(shown)})"

    @property
    def text(self) -> str | None:
        """The model in the model language, if it is written in it."""
        return self._entry.get("text")

    def plan(
        self,
        schema: Schema,
        count: int,
        privacy: Privacy,
        sampler: Sampler | None = None,
        *,
        person: str | None = None,
        most_rows: int | None = None,
        report: float | None = None,
    ) -> Plan:
        """What a fit would cost and buy. Opens no records.

        >>> schema = Schema(height=Real(1, 2.5, invalid=1.7))
        >>> model = Model(name="gaussian", covariance=0.01)
        >>> plan = model.plan(schema, count=1000, privacy=Privacy(epsilon=1, delta=1e-6), sampler=Sampler("langevin", start=[1.7]))
        >>> plan.epsilon <= 1
        True
        """
        records = Records({}, schema, count, person=person, most_rows=most_rows, report=report)
        return self._planned(records, privacy, sampler)

    def epsilon_for(
        self,
        schema: Schema,
        count: int,
        delta: float,
        expected_error: float,
        sampler: Sampler | None = None,
        *,
        person: str | None = None,
        most_rows: int | None = None,
        neighbours: Any = None,
    ) -> float:
        """The least ε, to one percent, that is expected to bring the error of a posterior mean down to ``expected_error``
        posterior standard deviations. Opens no records.

        >>> schema = Schema(late=Bool(invalid=False), hour=Integer(5, 23, invalid=12))
        >>> model = Model("late ~ hour", family="bernoulli")
        >>> 0 < model.epsilon_for(schema, count=100_000, delta=1e-6, expected_error=1.0) < 10
        True
        """
        records = Records({}, schema, count, person=person, most_rows=most_rows)
        privacy = Privacy(1.0, delta, neighbours=neighbours)
        return self._planned(records, privacy, sampler, expected_error).budget

    def fit(
        self,
        records: Records,
        privacy: Privacy,
        sampler: Sampler | None = None,
        *,
        folder: Any = None,
        progress: bool = True,
        journal: bool = True,
        insecure_seed: int | None = None,
        sign: Any = None,
    ) -> Fit:
        """Draws from the posterior over private records, and certifies what that costs.

        Everything it leaves is in ``folder``, or in a temporary one that goes with the fit. Ctrl-C stops the run before its next
        step: what was drawn is returned and valid, and `Fit.resume` continues it. ``insecure_seed`` makes a run repeatable
        and marks it NOT PRIVATE.

        >>> schema = Schema(height=Real(1, 2.5, invalid=1.7))
        >>> records = Records({"height": [1.5 + 0.0004 * i for i in range(1000)]}, schema, count=1000)
        >>> model = Model(name="gaussian", covariance=0.01)
        >>> fit = model.fit(records, Privacy(epsilon=1, delta=1e-6), Sampler("langevin", start=[1.7]), progress=False)
        >>> fit.certificate.epsilon <= 1
        True
        """
        plan = self._planned(records, privacy, sampler)
        return run(
            plan,
            records,
            folder=folder,
            progress=progress,
            journal=journal,
            insecure_seed=insecure_seed,
            sign=sign,
        )

    def _sections(self, records: Records, privacy: Privacy, sampler: Sampler | None) -> dict[str, Any]:
        """The spec of a fit, section by section."""
        sections: dict[str, Any] = {
            "data": records._declared(),
            "model": self._entry,
            "privacy": privacy._entry,
        }
        if sampler is not None and sampler._entry:
            sections["sampler"] = sampler._entry
        return sections

    def _planned(
        self, records: Records, privacy: Privacy, sampler: Sampler | None, error: float | None = None
    ) -> Plan:
        return Plan(_barkeep.Plan(_json(self._sections(records, privacy, sampler)), "", error))
