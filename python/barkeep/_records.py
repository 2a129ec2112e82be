"""The private records, as far as anyone may see them: by their public description."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

from . import _barkeep, _frames, _shards
from ._errors import DataError
from ._schema import Schema


class Records:
    """Private records with their public description. Nothing is read before a fit, and nothing of it can be seen here.

    ``data`` is a pandas, polars, pyarrow or duckdb frame, a dict of arrays, a Spark DataFrame, a Ray dataset, the path of a CSV or
    Parquet file, or a list of paths. ``count`` is the number of records, which is public; with ``person``, the column that says whose row it is, it is the
    number of persons, and the number of rows stays secret. Of each person the first ``most_rows`` rows count.

    ``report`` spends this share of the budget on noisy counts of bad cells. ``id`` is what the custodian calls the data set. A file
    that needs more than ``memory``, such as "4GB", is read anew for every question.

    >>> schema = Schema(height=Real(1, 2.5, invalid=1.7))
    >>> Records({"height": [1.82, 1.7, None]}, schema, count=3)
    Records(dict, count=3, schema=Schema(
        height=Real(min=1, max=2.5, invalid=1.7),
    ))
    """

    def __init__(
        self,
        data: Any,
        schema: Schema,
        count: int,
        *,
        person: str | None = None,
        most_rows: int | None = None,
        id: str | None = None,
        delimiter: str | None = None,
        report: float | None = None,
        memory: str | None = None,
    ) -> None:
        self._data = data
        self.schema = schema
        self.count = count
        self.person = person
        self.most_rows = most_rows
        self.id = id
        self.delimiter = delimiter
        self.report = report
        self.memory = memory

    @property
    def path(self) -> str | None:
        """The file, if the records are in one."""
        if isinstance(self._data, (str, os.PathLike)):
            return os.path.abspath(os.fspath(self._data))
        return None

    def _later(self, wanted: Sequence[str]) -> Any:
        """What gives the extension a frame once its run is paid for; `None` for the spec's own file."""
        if self.path is not None:
            return None
        # By itself and not as a function within: what a traceback's frames hold must be no record.
        return partial(self._source, wanted)

    def _source(self, wanted: Sequence[str]) -> Any:
        """What the extension reads."""
        if isinstance(self._data, (list, tuple)):
            return [os.fspath(path) for path in self._data]
        try:
            ask = _shards.ask(self._data, wanted, self.person)
            return _frames.source(self._data, wanted) if ask is None else _barkeep.Engine(ask)
        except DataError as error:
            refused = str(error)
        except Exception:
            # Whatever a frame's library says may quote a cell.
            refused = "the frame cannot be read: the library that holds it did not hand over its rows"
        # Raised anew: some tools print what the functions of a traceback hold, and those above hold records.
        raise DataError(refused)

    def _declared(self) -> dict[str, Any]:
        """``[data]`` of a spec on these records."""
        data = {
            "path": self.path or "in memory",
            "records" if self.person is None else "persons": self.count,
            "person": self.person,
            "most_rows": self.most_rows,
            "id": self.id,
            "delimiter": self.delimiter,
            "report": None if self.report is None else {"share": self.report},
            "memory": self.memory,
            "columns": self.schema._entries(),
        }
        return {key: value for key, value in data.items() if value is not None}

    def _names(self) -> list[str]:
        """All declared columns, by whose cells an account knows a frame."""
        return list(self.schema._columns) + ([] if self.person is None else [self.person])

    def __repr__(self) -> str:
        path = self.path
        kind = type(self._data).__name__ if path is None else repr(path)
        person = "" if self.person is None else f", person={self.person!r}"
        return f"Records({kind}, count={self.count}{person}, schema={self.schema!r})"

    def __reduce__(self) -> Any:
        raise TypeError("private records are not copied or written; make them anew where they are")
