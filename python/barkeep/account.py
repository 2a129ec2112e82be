"""The accountant: what mechanisms cost, alone, repeated and together. It needs no records.

Every mechanism that ``barkeep account`` knows is a function here, and takes what the program takes. Give two of ``steps``, ``epsilon``
and ``delta``; the third is computed, with its bracket.

>>> account.gaussian(ratio=20, steps=100, delta=1e-6)
Answer(epsilon=2.25..., delta=1e-06, steps=100, method='closed form of the Gaussian mechanism')
>>> account.gaussian(ratio=20, epsilon=1, delta=1e-6).steps
22
>>> sorted(account.mechanisms())[:3]
['barker-minibatch', 'bernoulli', 'black-box']
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from . import _barkeep

__all__ = ["Answer", "Bracket", "compose", "mechanisms", "profile"]


class Bracket(float):
    """An upper bound, with the lower one where it is known."""

    lower: float | None

    def __new__(cls, bracket: dict[str, Any]) -> Bracket:
        number = super().__new__(cls, bracket["upper"])
        number.lower = bracket.get("lower")
        return number


class Answer:
    """What the accountant found. ``epsilon`` and ``delta`` are upper bounds with a ``lower`` end."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.steps: int = answer["steps"]
        self.epsilon = Bracket(answer["epsilon"])
        self.delta = Bracket(answer["delta"])
        #: How it was computed.
        self.method: str = answer["method"]
        #: What ``solve`` found.
        self.solved: float | None = answer.get("solved")
        #: What it means for one person, with ``meaning=True``.
        self.meaning: dict[str, Any] | None = answer.get("meaning")

    def __repr__(self) -> str:
        solved = "" if self.solved is None else f"solved={self.solved!r}, "
        return (
            f"Answer({solved}epsilon={float(self.epsilon)!r}, delta={float(self.delta)!r}, steps={self.steps}, "
            f"method={self.method!r})"
        )


@cache
def mechanisms() -> dict[str, str]:
    """The mechanisms by name, each with what it is and takes."""
    return {name: words for name, words in json.loads(_barkeep.mechanisms())}


def compose(*files: Any, adaptive: bool = False, **asked: Any) -> Answer | list[Answer]:
    """What bills or certificates of one data set cost together; ``adaptive`` where each was chosen in view of earlier answers."""
    return _answered(["compose", *map(os.fspath, files)], {"adaptive": adaptive, **asked})


def profile(mechanism: str, /, *, steps: int, **keys: Any) -> tuple[Any, Any]:
    """The privacy profile: arrays of ε and of δ at each, an upper bound.

    >>> epsilon, delta = account.profile("gaussian", ratio=20, steps=100)
    >>> bool((delta[:-1] >= delta[1:]).all())
    True
    """
    import tempfile

    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "curve.csv")
        _answered([_spelled(mechanism)], {**keys, "steps": steps, "delta": 1e-6, "curve": path})
        rows = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    return rows[:, 0], rows[:, 1]


def _spelled(name: str) -> str:
    return name.replace("_", "-")


def _answered(arguments: list[str], asked: dict[str, Any]) -> Answer | list[Answer]:
    for key, value in asked.items():
        option = "--" + _spelled(key)
        match value:
            case None | False:
                continue
            case True:
                arguments.append(option)
            case str() | int() | float():
                arguments.append(f"{option}={value}")
            case Sequence():
                arguments.append(f"{option}={','.join(str(each) for each in value)}")
            case _:
                arguments.append(f"{option}={value}")
    answer = json.loads(_barkeep.account(arguments))
    return [Answer(each) for each in answer] if isinstance(answer, list) else Answer(answer)


def __getattr__(name: str) -> Callable[..., Any]:
    spelled = _spelled(name)
    if name.startswith("_") or spelled not in mechanisms():
        raise AttributeError(f"the accountant knows no mechanism {name!r}; account.mechanisms() lists them")

    def mechanism(**asked: Any) -> Answer | list[Answer]:
        return _answered([spelled], asked)

    mechanism.__name__ = mechanism.__qualname__ = name
    mechanism.__doc__ = mechanisms()[spelled]
    return mechanism


def __dir__() -> list[str]:
    return sorted([*__all__, *(name.replace("-", "_") for name in mechanisms())])
