"""What is public about the records: each column's kind, bounds or levels, and what stands for a bad cell."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from . import _barkeep

__all__ = ["Bool", "Category", "Column", "Integer", "Real", "Schema"]

Scale = Literal["none", "bounds"]


class Column:
    """One column of the records, as its custodian describes it."""

    _kind: str

    def __init__(self, **entry: Any) -> None:
        self._entry = {"kind": self._kind} | {key: value for key, value in entry.items() if value is not None}

    def __repr__(self) -> str:
        named = (f"{key}={value!r}" for key, value in self._entry.items() if key != "kind")
        return f"{type(self).__name__}({', '.join(named)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Column) and self._entry == other._entry

    def __hash__(self) -> int:
        return hash(json.dumps(self._entry, sort_keys=True))


class Bool(Column):
    """A column of true and false.

    >>> Bool(invalid=False)
    Bool(invalid=False)
    """

    _kind = "bool"

    def __init__(self, *, invalid: bool) -> None:
        super().__init__(invalid=invalid)


class _Bounded(Column):
    def __init__(
        self,
        min: float,
        max: float,
        *,
        invalid: float,
        scale: Scale | None = None,
        typical: tuple[float, float] | None = None,
    ) -> None:
        spread = None if typical is None else [_plain(value) for value in typical]
        super().__init__(
            min=_plain(min), max=_plain(max), invalid=_plain(invalid), scale=scale, typical=spread
        )


class Integer(_Bounded):
    """A column of whole numbers from ``min`` to ``max``; others are rounded and clamped.

    ``scale="bounds"`` shows the model [min, max] as [-1, 1]. ``typical`` is where nine of ten values are known to lie, without
    the records.

    >>> Integer(5, 23, invalid=12)
    Integer(min=5, max=23, invalid=12)
    """

    _kind = "integer"


class Real(_Bounded):
    """A column of numbers from ``min`` to ``max``; others are clamped.

    ``precision="f32"`` rounds values to some seven digits as they are read and keeps them in 4 bytes in place of 8.

    >>> Real(0, 250, invalid=70, scale="bounds", typical=(50, 90))
    Real(min=0, max=250, invalid=70, scale='bounds', typical=[50, 90])
    >>> Real(0, 250, invalid=70, precision="f32")
    Real(min=0, max=250, invalid=70, precision='f32')
    """

    _kind = "real"

    def __init__(
        self,
        min: float,
        max: float,
        *,
        invalid: float,
        scale: Scale | None = None,
        typical: tuple[float, float] | None = None,
        precision: Literal["f64", "f32"] | None = None,
    ) -> None:
        super().__init__(min, max, invalid=invalid, scale=scale, typical=typical)
        if precision is not None:
            self._entry["precision"] = precision


class Category(Column):
    """A column of declared levels, the first of which is a formula's reference.

    >>> Category(["EWR", "JFK", "LGA"], invalid="EWR")
    Category(levels=['EWR', 'JFK', 'LGA'], invalid='EWR')
    """

    _kind = "category"

    def __init__(self, levels: Sequence[str], *, invalid: str) -> None:
        super().__init__(levels=[str(level) for level in levels], invalid=invalid)


def _plain(value: Any) -> Any:
    """A number of Python's own; NumPy's are unknown to JSON."""
    return value.item() if hasattr(value, "item") else value


class Schema(Mapping[str, Column]):
    """The public description of all columns, by name. Nothing in it may come from looking at the records.

    A cell that is missing, unreadable or undeclared becomes its column's ``invalid`` value; a number outside the bounds is moved
    to the nearer one.

    >>> schema = Schema(late=Bool(invalid=False), hour=Integer(5, 23, invalid=12))
    >>> schema
    Schema(
        late=Bool(invalid=False),
        hour=Integer(min=5, max=23, invalid=12),
    )
    >>> Schema(hour=Integer(5, 23, invalid=99))
    Traceback (most recent call last):
    barkeep.SpecError: spec key `data.columns.hour.invalid`: must be a number from min to max
    """

    def __init__(self, columns: Mapping[str, Column] | None = None, /, **named: Column) -> None:
        self._columns: dict[str, Column] = {**(columns or {}), **named}
        for name, column in self._columns.items():
            if not isinstance(column, Column):
                raise TypeError(f"column {name!r} must be a bk.Bool, bk.Integer, bk.Real or bk.Category")
        _barkeep.check_schema(_json(self._entries()))

    @classmethod
    def read(cls, path: Any) -> Schema:
        """Reads the ``[columns]`` of a schema file, as ``barkeep schema`` drafts one and a person completes it."""
        import tomllib

        with open(path, "rb") as file:
            columns = tomllib.load(file).get("columns", {})
        kinds = {kind._kind: kind for kind in (Bool, Integer, Real, Category)}
        schema = cls.__new__(cls)
        schema._columns = {}
        _barkeep.check_schema(_json(columns))
        for name, entry in columns.items():
            column = Column.__new__(kinds[entry.get("kind", "real")])
            column._entry = {"kind": "real"} | entry
            schema._columns[name] = column
        return schema

    def _entries(self) -> dict[str, Any]:
        return {name: column._entry for name, column in self._columns.items()}

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        if all(name.isidentifier() for name in self):
            lines = (f"    {name}={column!r},\n" for name, column in self.items())
            return f"Schema(\n{''.join(lines)})"
        lines = (f"    {name!r}: {column!r},\n" for name, column in self.items())
        return f"Schema({{\n{''.join(lines)}}})"


def _json(value: Any) -> str:
    from ._errors import SpecError

    try:
        return json.dumps(value, allow_nan=False, default=_plain)
    except (ValueError, TypeError) as error:
        raise SpecError("a spec holds finite numbers, texts, true and false, lists and tables") from error
