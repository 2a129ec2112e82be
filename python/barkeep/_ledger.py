"""The custodian's books: what was ever spent on a population, and what is left."""

from __future__ import annotations

import json
import os
from typing import Any, Literal

from . import _barkeep
from ._plan import Plan
from ._records import Records


class Ledger:
    """A custodian's ledger, a file of entries that only grows.

    >>> import tempfile, os
    >>> books = Ledger.new(os.path.join(tempfile.mkdtemp(), "books"))
    >>> books.open("cohort-7", epsilon=4, delta=1e-6)
    >>> books.account("cohort-7")["spent"]
    0.0
    """

    def __init__(self, path: Any) -> None:
        self.path = os.path.abspath(os.fspath(path))
        self._books = _barkeep.Books(self.path, False)

    @classmethod
    def new(cls, path: Any) -> Ledger:
        """Makes a ledger, and beside it the custodian's key: keep that where analysts cannot read it."""
        _barkeep.Books(os.fspath(path), True)
        return cls(path)

    def open(
        self,
        account: str,
        *,
        epsilon: float,
        delta: float,
        neighbours: Literal["substitute", "add-remove"] = "substitute",
        unit: Literal["record", "person"] = "record",
        reason: str | None = None,
    ) -> None:
        """Opens an account: a population of persons, and the total that may ever be spent on it."""
        self._books.open_account(account, epsilon, delta, neighbours, unit, reason)

    def add(self, account: str, data: str, records: Any, *, reason: str | None = None) -> int:
        """Puts records, or the next version of a data set, under an account; returns its version.

        ``records`` is a file, known by its bytes, or `Records` of a frame, known by the cells of the columns that its schema declares:
        another schema makes it other data.
        """
        if not isinstance(records, Records):
            return self._books.add(account, data, os.fspath(records), reason)
        if records.path is not None:
            return self._books.add(account, data, records.path, reason)
        return self._books.add_frame(account, data, records._known(), reason)

    def cap(
        self, account: str, *, epsilon: float, delta: float, analyst: str | None = None, project: str | None = None
    ) -> None:
        """Bounds what an analyst or a project may spend, runs so far included."""
        if (analyst is None) == (project is None):
            raise TypeError("give one of analyst and project")
        whom = "analyst" if analyst is not None else "project"
        self._books.cap(account, whom, analyst or project or "", epsilon, delta)

    def close(self, account: str, *, reason: str) -> None:
        """Closes an account for ever. What was spent stays spent."""
        self._books.close_account(account, reason)

    def accounts(self) -> list[dict[str, Any]]:
        """What is spent and left in every account."""
        return json.loads(self._books.accounts())

    def account(self, name: str) -> dict[str, Any]:
        """What is spent and left in one account."""
        return json.loads(self._books.accounts(name))[0]

    def entries(self) -> list[dict[str, Any]]:
        """Every entry, the first one first."""
        return json.loads(self._books.entries())

    def check(self, head: str | None = None) -> dict[str, Any]:
        """Verifies every byte, every hash and every decision, and computes the price of every bill again."""
        return json.loads(self._books.check(head))

    @staticmethod
    def quote(plan: Plan) -> dict[str, Any] | None:
        """What a run of a plan would cost the account it names; `None` where it names none."""
        quote = _barkeep.Books.quote(plan._plan)
        return None if quote is None else json.loads(quote)

    def __repr__(self) -> str:
        lines = [
            f"  {account['account']}: spent {account['spent']:.4g} of epsilon {account['epsilon']:g} at delta {account['delta']:g}"
            for account in self.accounts()
        ]
        return "\n".join([f"Ledger({self.path!r})", *lines])
