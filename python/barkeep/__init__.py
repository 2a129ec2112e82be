"""A private posterior in five lines.

    import barkeep as bk

    schema = bk.Schema(late=bk.Bool(invalid=False), hour=bk.Integer(5, 23, invalid=12))
    trips = bk.Records(frame, schema, count=336_776)
    model = bk.Model("late ~ hour", family="bernoulli")
    fit = model.fit(trips, privacy=bk.Privacy(epsilon=1, delta=1e-6))
    fit.summary(), fit.verdict, fit.certificate.statement

Records are read by the engine alone. What Python gets are draws that were paid for, and what follows from them. Nothing public is
read from a frame: bounds, levels and the number of records are what you declare.
"""

from __future__ import annotations

import json as _json_module
from typing import Any

from . import _barkeep, account
from ._checks import Audit, Verified, audit, verify
from ._errors import (
    BudgetError,
    CertificateError,
    DataError,
    Error,
    FileError,
    InternalError,
    LedgerError,
    NotToBeTrusted,
    SpecError,
    Stopped,
)
from ._fit import Certificate, Fit, Summary, Verdict, resume
from ._ledger import Ledger
from ._model import Model
from ._plan import Plan
from ._predict import Predictions
from ._privacy import Privacy, Sampler
from ._records import Records
from ._schema import Bool, Category, Column, Integer, Real, Schema
from ._simulate import simulate
from ._trace import model

__version__: str = _barkeep.__version__

__all__ = [
    "Audit",
    "Bool",
    "BudgetError",
    "Category",
    "Certificate",
    "CertificateError",
    "Column",
    "DataError",
    "Error",
    "FileError",
    "Fit",
    "Integer",
    "InternalError",
    "Ledger",
    "LedgerError",
    "Model",
    "NotToBeTrusted",
    "Plan",
    "Predictions",
    "Privacy",
    "Real",
    "Records",
    "Sampler",
    "Schema",
    "SpecError",
    "Stopped",
    "Summary",
    "Verdict",
    "Verified",
    "account",
    "audit",
    "model",
    "resume",
    "samplers",
    "simulate",
    "verify",
]


for _error in (
    Error, BudgetError, CertificateError, DataError, FileError, InternalError, LedgerError, NotToBeTrusted, SpecError, Stopped
):
    # Tracebacks name them as their users do.
    _error.__module__ = "barkeep"


def samplers() -> dict[str, dict[str, Any]]:
    """The samplers by name, each with a summary and the keys it takes."""
    return {entry.pop("name"): entry for entry in _json_module.loads(_barkeep.samplers())}
