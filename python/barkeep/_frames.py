"""Finds the columns of a frame in Python's memory. Only types are looked at here, never a cell."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from ._errors import DataError

#: A column's name, how its cells are held, and what holds them.
Described = tuple[str, str, Any]


def source(frame: Any, wanted: Iterable[str]) -> Any:
    """What the extension reads: columns with the number of rows, or an object that offers Arrow's stream.

    pandas is read column by column, since its own way to Arrow guesses the type of objects from the cells.
    """
    wanted = frozenset(wanted)
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        return _pandas(frame, wanted)
    if type(frame) is dict:
        return _mapping(frame, wanted)
    if hasattr(frame, "__arrow_c_stream__"):
        return frame
    hint = "; call .collect() first" if hasattr(frame, "collect") else ""
    kind = f"{type(frame).__module__}.{type(frame).__qualname__}"
    raise DataError(
        f"records are a pandas, polars, pyarrow or duckdb frame, a dict of arrays, a path or a list of paths, not {kind}{hint}"
    )


def _pandas(frame: Any, wanted: frozenset[str]) -> tuple[list[Described], int]:
    described: list[Described] = []
    for place, name in enumerate(frame.columns):
        # A name that is no text can be no declared column's.
        if not isinstance(name, str):
            continue
        if name not in wanted:
            described.append((name, "unread", None))
        else:
            described.append((name, *_series(frame.iloc[:, place])))
    return described, len(frame)


def _series(series: Any) -> tuple[str, Any]:
    import numpy as np

    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return _array(series.to_numpy())
    if hasattr(series, "cat"):
        codes = np.ascontiguousarray(series.cat.codes.to_numpy(), dtype=np.int64)
        return "codes", (codes, list(series.cat.categories))
    written = str(dtype)
    if getattr(dtype, "kind", "O") in "mM" or written.startswith(("date", "time", "duration", "period", "interval")):
        return "dates", None
    if written.startswith(("list", "large_list", "struct", "map", "fixed_size_list")):
        return "lists", None
    return "objects", series.to_numpy(dtype=object).tolist()


def _mapping(frame: dict[Any, Any], wanted: frozenset[str]) -> tuple[list[Described], int]:
    import numpy as np

    pandas = sys.modules.get("pandas")
    described: list[Described] = []
    rows: int | None = None
    for name, cells in frame.items():
        if not isinstance(name, str):
            continue
        if name not in wanted:
            described.append((name, "unread", None))
            continue
        if type(cells) is np.ndarray:
            kind, held = _array(cells)
        elif type(cells) in (list, tuple):
            # Objects: to make an array of them would let cells choose the type.
            kind, held = "objects", list(cells)
        elif pandas is not None and type(cells) is pandas.Series:
            kind, held = _series(cells)
        else:
            raise DataError("the columns of a dict are NumPy arrays, lists, tuples or pandas series")
        length = len(cells)
        if rows is not None and length != rows:
            raise DataError("the columns of the frame differ in their numbers of rows")
        rows = length
        described.append((name, kind, held))
    return described, rows or 0


def _array(array: Any) -> tuple[str, Any]:
    import numpy as np

    if array.ndim != 1:
        return "lists", None
    match array.dtype.kind:
        case "b":
            return "bool", np.ascontiguousarray(array).view(np.uint8)
        case "i":
            return "signed", np.ascontiguousarray(array, dtype=np.int64)
        case "u":
            return "unsigned", np.ascontiguousarray(array, dtype=np.uint64)
        case "f" if array.dtype.itemsize <= 4:
            return "single", np.ascontiguousarray(array, dtype=np.float32)
        case "f":
            return "double", np.ascontiguousarray(array, dtype=np.float64)
        case "m" | "M":
            return "dates", None
        case "c":
            return "complex", None
        case "V":
            return "lists", None
        case "S":
            return "bytes", None
        case _:
            return "objects", array.tolist()
