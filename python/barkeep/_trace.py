"""Models as Python functions: traced once into the model language, without data."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ._model import Model

#: NumPy's names for what the language has.
_UFUNCS = {
    "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "sqrt": "sqrt", "square": "square", "absolute": "abs",
    "floor": "floor", "tanh": "tanh", "minimum": "min", "maximum": "max", "power": "pow",
}  # fmt: skip


class Expression:
    """Something that a model computes. It has no value: a function that asks for one is refused."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text

    def __bool__(self) -> bool:
        raise TypeError("a traced model sees no data, so nothing is true or false yet: use m.where(condition, yes, no), & | ~")

    def __float__(self) -> float:
        raise TypeError("a traced model sees no data, so nothing has a value yet")

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, index: Any) -> Expression:
        place = _level(index) if isinstance(index, str) else _written(index)
        return Expression(f"{self._text}[{place}]")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Expression:
        name = _UFUNCS.get(ufunc.__name__)
        if name is not None and method == "__call__" and not options:
            return _call(name, inputs)
        sign = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "greater": ">", "less": "<"}.get(ufunc.__name__)
        if sign is not None and method == "__call__":
            return _joined(inputs[0], sign, inputs[1])
        raise TypeError(f"the model language has no {ufunc.__name__}")


def _sign(sign: str, turned: bool = False) -> Callable[[Expression, Any], Expression]:
    def apply(self: Expression, other: Any) -> Expression:
        return _joined(other, sign, self) if turned else _joined(self, sign, other)

    return apply


def _joined(left: Any, sign: str, right: Any) -> Expression:
    return Expression(f"({_written(left)} {sign} {_written(right)})")


for _name, _symbol in {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "^", "and": "and", "or": "or",
}.items():  # fmt: skip
    setattr(Expression, f"__{_name}__", _sign(_symbol))
    setattr(Expression, f"__r{_name}__", _sign(_symbol, turned=True))
for _name, _symbol in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items():
    setattr(Expression, f"__{_name}__", _sign(_symbol))
setattr(Expression, "__neg__", lambda self: Expression(f"(-{self._text})"))
setattr(Expression, "__invert__", lambda self: Expression(f"(not {self._text})"))


def _named(name: str) -> str:
    plain = name.isascii() and name.replace(".", "_").isidentifier()
    return name if plain else f"`{name}`"


def _level(level: str) -> str:
    if '"' in level or "\\" in level or "\n" in level:
        raise ValueError(f"the level {level!r} cannot be written in the model language")
    return f'"{level}"'


def _written(value: Any) -> str:
    if isinstance(value, Expression):
        return value._text
    if isinstance(value, str):
        return _level(value)
    if isinstance(value, bool):
        return str(int(value))
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, (int, float)) and math.isfinite(number):
        return repr(number) if number >= 0 else f"(-{-number!r})"
    raise TypeError(f"a traced model holds expressions and finite numbers, not {type(value).__name__}")


def _call(name: str, arguments: Any) -> Expression:
    return Expression(f"{name}({', '.join(_written(each) for each in arguments)})")


class Tracer:
    """What a traced function writes its model with. Every function and distribution of the model language is a method."""

    def __init__(self) -> None:
        self._parameters: list[str] = []
        self._record: list[str] = []

    def parameter(
        self,
        name: str,
        prior: Expression | None = None,
        *,
        over: Expression | int | None = None,
        low: float | None = None,
        high: float | None = None,
        ordered: bool = False,
        simplex: bool = False,
    ) -> Expression:
        """A parameter, or one for each level of the column ``over``, or as many as it says. Without a prior it is flat."""
        line = _named(name) if over is None else f"{_named(name)}[{_written(over)}]"
        if low is not None and high is not None:
            line = f"{_written(low)} < {line} < {_written(high)}"
        elif low is not None:
            line += f" > {_written(low)}"
        elif high is not None:
            line += f" < {_written(high)}"
        line = ("ordered " if ordered else "simplex " if simplex else "") + line
        self._parameters.append(line if prior is None else f"{line} ~ {_written(prior)}")
        return Expression(_named(name))

    def quantity(self, name: str, value: Any) -> Expression:
        """A name for an expression of parameters, whose posterior is reported too."""
        self._parameters.append(f"{_named(name)} = {_written(value)}")
        return Expression(_named(name))

    def let(self, name: str, value: Any) -> Expression:
        """A name for an expression of columns and parameters: it is computed once."""
        self._record.append(f"{_named(name)} = {_written(value)}")
        return Expression(_named(name))

    def observe(
        self, column: Expression, law: Expression, *, censored: Expression | bool = False, truncated: bool = False
    ) -> None:
        """A column follows a law. Where ``censored``, only that it is larger is known; ``True`` means beyond its declared bounds."""
        line = _written(column)
        if isinstance(censored, Expression):
            line += f" | censored({censored._text})"
        elif censored:
            line += " | censored"
        elif truncated:
            line += " | truncated"
        self._record.append(f"{line} ~ {_written(law)}")

    def log_density(self, value: Any) -> None:
        """ln p(record | parameters), up to a constant; nothing can be simulated from it."""
        self._record.append(f"log_density = {_written(value)}")

    def __getattr__(self, name: str) -> Callable[..., Expression]:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *arguments: _call(name, arguments)

    def _text(self) -> str:
        lines = ["parameters", *(f"  {line}" for line in self._parameters), "record", *(f"  {line}" for line in self._record)]
        return "\n".join(lines) + "\n"


def model(function: Callable[..., None]) -> Model:
    """Turns a function into a model: its first argument writes the model down, the others are the records' columns by name.

    The function runs once, here, and sees names instead of data. What comes of it is a text in the model language, which is
    public, stands in the certificate, and can be run for somebody you do not trust.

    >>> @model
    ... def trial(m, t, event, arm, age):
    ...     b = m.parameter("b", m.normal(1, 1), over=arm)
    ...     b_age = m.parameter("b_age", m.normal(0, 1))
    ...     shape = m.parameter("shape", m.half_normal(2), low=0)
    ...     m.quantity("effect", b["drug"] - b["control"])
    ...     m.observe(t, m.weibull(shape, m.exp(b[arm] + b_age * age)), censored=~event)
    >>> print(trial.text)
    parameters
      b[arm] ~ normal(1, 1)
      b_age ~ normal(0, 1)
      shape > 0 ~ half_normal(2)
      effect = (b["drug"] - b["control"])
    record
      t | censored((not event)) ~ weibull(shape, exp((b[arm] + (b_age * age))))
    <BLANKLINE>
    """
    import inspect

    names = list(inspect.signature(function).parameters)
    if not names:
        raise TypeError("a model is a function of what writes it down and of the records' columns, as in def trial(m, t, arm)")
    tracer = Tracer()
    function(tracer, *(Expression(_named(name)) for name in names[1:]))
    return Model(text=tracer._text())
