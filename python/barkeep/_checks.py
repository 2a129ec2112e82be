"""Attacks and verification: nobody need take barkeep's word for it."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _barkeep
from ._fit import Fit
from ._plan import Plan


class Audit:
    """What an attack could prove, beside what is certified."""

    def __init__(self, audit: dict[str, Any]) -> None:
        #: One row for each mechanism that was attacked.
        self.rows: list[dict[str, Any]] = audit["rows"]
        #: Whether nothing was proved beyond what is certified.
        self.holds: bool = audit["holds"]
        #: With which all rows hold together.
        self.confidence: float = audit["confidence"]

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        lines = [f"{'mechanism':<48} {'certified':>10} {'audited':>10} {'trials':>10} {'delta':>8}"]
        lines += [
            f"{row['mechanism']:<48} {row['certified']:>10.4f} {row['audited']:>10.4f} {row['trials']:>10} {row['delta']:>8.0e}"
            for row in self.rows
        ]
        return "\n".join(lines)


def audit(plan: Plan | None = None, *, trials: int | None = None, seed: int | None = None) -> Audit:
    """Attacks a plan with two made-up data sets that differ in one record, or in one person's rows; without a plan, every
    mechanism and every private sampler. Records are made up: none are opened.

    >>> schema = Schema(height=Real(1, 2.5, invalid=1.7))
    >>> model = Model(name="gaussian", covariance=0.01)
    >>> plan = model.plan(schema, 100, Privacy(epsilon=1, delta=1e-6), Sampler("statistics", clip=1))
    >>> audit(plan, trials=100, seed=1).holds
    True
    """

    def watch(share: float, mechanism: str) -> None:
        pass

    if plan is None:
        return Audit(json.loads(_barkeep.audit_all(watch, trials, seed)))
    return Audit(json.loads(_barkeep.audit(plan._plan, watch, trials, seed)))


class Verified:
    """A certificate whose ε was computed again."""

    def __init__(self, verified: dict[str, Any]) -> None:
        self._json = verified
        #: ε of the bill, computed now.
        self.epsilon: float = verified["epsilon"]
        #: ε as code that shares nothing with the accountant bounds it; None where that did not finish.
        self.checked: float | None = verified["checked"]
        #: The guarantee in one sentence.
        self.statement: str = verified["statement"]
        #: Whose key signed it; whether it is yours only ``key`` can say.
        self.signed_by: str | None = verified["signed_by"]
        #: Files of the run that were not beside it.
        self.absent: list[str] = verified["absent"]
        #: What it means for one person, in words.
        self.meaning: list[str] = verified["meaning"]

    def __repr__(self) -> str:
        lines = [f"verified: the bill costs epsilon {self.epsilon:.9f}, within the stated {self._json['stated']}"]
        if self.checked is None:
            lines.append("not checked independently")
        else:
            lines.append(f"verified: computed independently, epsilon is at most {self.checked:.9f}")
        if self.signed_by is None:
            lines.append("not signed: whoever can write the certificate can write another one")
        elif self._json["signature_checked"]:
            lines.append("verified: signed by the given key")
        else:
            lines.append(f"signed by {self.signed_by}; key= checks whose key that must be")
        if not self._json["ended"]:
            lines.append("not checked: the files beside it, since the run has not ended")
        elif self.absent:
            lines.append(f"not checked: {', '.join(self.absent)}, not beside it")
        else:
            lines.append("verified: the files beside it are those the run left")
        if self._json["ledger_checked"]:
            lines.append("verified: the ledger holds its reservation")
        if self._json["not_planned"]:
            lines.append(f"not checked: {self._json['not_planned']}")
        return "\n".join([*lines, self.statement, *self.meaning])


def verify(certificate: Any, *, key: Any = None, ledger: Any = None) -> Verified:
    """Computes the ε of a certificate again, and checks the files beside it, its signature and its reservation.

    ``certificate`` is a fit, a run's folder or a certificate's path. Raises `CertificateError` where it does not hold what it says.
    """
    path = certificate.folder if isinstance(certificate, Fit) else os.fspath(certificate)
    if os.path.isdir(path):
        path = os.path.join(path, "certificate.json")
    books = None if ledger is None else os.fspath(getattr(ledger, "path", ledger))
    return Verified(json.loads(_barkeep.verify(path, None if key is None else os.fspath(key), books)))
