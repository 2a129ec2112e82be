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

    def add(self, account: str, data: str | None, records: Any, *, secret: bool = False, reason: str | None = None) -> int:
        """Puts a data set, or its next version, under an account; returns its version. All its records are read.

        ``records`` is `Records`, in a file or a frame, or the path of a data set's file, which has a name of its own. The account knows them
        by their admitted cells, and holds runs to how they are declared: unit, person column, most rows and number. ``secret`` says that
        the number of `Records` is secret, as with ``neighbours="add-remove"``.
        """
        if not isinstance(records, Records):
            return self._books.add(account, data, os.fspath(records), reason)
        if data is None:
            raise TypeError("name the data set")
        declared = json.dumps(records._declared())
        return self._books.add_records(account, data, declared, secret, records._later(records._names()), reason)

    def analyst(self, name: str, key: Any) -> None:
        """Says for whom a public key signs: a request under that key is charged to the analyst's cap."""
        self._books.add_analyst(name, os.fspath(key))

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
