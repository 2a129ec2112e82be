"""The budget and what it protects; and how to draw."""

from __future__ import annotations

from typing import Any, Literal


class Privacy:
    """An (ε, δ) budget: what one record, or one person's rows, may change.

    ``neighbours`` is ``"substitute"`` (one record is replaced) or ``"add-remove"`` (one is added or removed: the number of
    records is then secret). With ``ledger`` and ``account`` the run is charged to a custodian's account.

    >>> Privacy(epsilon=1, delta=1e-6)
    Privacy(epsilon=1, delta=1e-06)
    """

    def __init__(
        self,
        epsilon: float,
        delta: float,
        *,
        neighbours: Literal["substitute", "add-remove"] | None = None,
        ledger: Any = None,
        account: str | None = None,
        analyst: str | None = None,
        project: str | None = None,
    ) -> None:
        if ledger is not None:
            import os

            ledger = os.path.abspath(os.fspath(getattr(ledger, "path", ledger)))
        entry = {
            "epsilon": epsilon,
            "delta": delta,
            "neighbours": neighbours,
            "ledger": ledger,
            "account": account,
            "analyst": analyst,
            "project": project,
        }
        self._entry: dict[str, Any] = {key: value for key, value in entry.items() if value is not None}

    @classmethod
    def not_private(cls) -> Privacy:
        """No protection at all: a baseline, whose every output is marked NOT PRIVATE."""
        privacy = cls.__new__(cls)
        privacy._entry = {"private": False}
        return privacy

    def __repr__(self) -> str:
        if "private" in self._entry:
            return "Privacy.not_private()"
        return f"Privacy({', '.join(f'{key}={value!r}' for key, value in self._entry.items())})"


class Sampler:
    """How to draw: a sampler by name with its keys, as ``bk.samplers()`` lists them. Without a name barkeep chooses.

    >>> Sampler("barker", proposal_sd=0.008, clip=2.0, start=[0, 3], chains=4, seed=1)
    Sampler('barker', proposal_sd=0.008, clip=2.0, start=[0, 3], chains=4, seed=1)
    """

    def __init__(self, name: str | None = None, /, **keys: Any) -> None:
        self._entry: dict[str, Any] = ({} if name is None else {"name": name}) | keys

    def __repr__(self) -> str:
        name = [repr(self._entry["name"])] if "name" in self._entry else []
        return f"Sampler({', '.join(name + [f'{key}={value!r}' for key, value in self._entry.items() if key != 'name'])})"
