"""Records that Spark or Ray keeps: one job a question, partial sums back.

The engine carries questions and partial sums, and its own encryption and authentication protect them. Partial sums are secrets: they
are held in the memory of workers and driver, and written or logged nowhere by this package. Noise is drawn once, in the driver,
after the question is paid for; a partial is a pure function of question and rows, so that the engine may compute it again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import _barkeep
from ._errors import DataError, Error

#: Takes the bytes of a plan and of a question, and returns a partial of every shard.
Ask = Callable[[bytes, bytes], list[bytes]]


def ask(data: Any, wanted: Sequence[str], person: str | None) -> Ask | None:
    """How to ask a cluster's frame; `None` for anything else."""
    module = type(data).__module__
    if module.startswith("pyspark.sql"):
        return _spark(data, wanted, person)
    if module.startswith("ray.data"):
        return _ray(data, wanted, person)
    return None


def answer(plan: bytes, question: bytes, place: int, names: Sequence[str], batches: Iterator[Any]) -> tuple[bytes | None, str]:
    """A worker's answer for the rows of its shard, or why there is none, in public words."""
    import pyarrow

    first = next(batches, None)
    if first is None:
        # No row tells the types, and text can be every kind.
        rows = pyarrow.table({name: pyarrow.array([], pyarrow.string()) for name in names})
    else:
        rows = pyarrow.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches))
    try:
        return _barkeep.partial(plan, question, place, rows), ""
    except Error as error:
        # The package's own words are public; what another library says may quote a row, and stays with the engine.
        return None, str(error)


def identified(rows: Any, person: str) -> Any:
    """The same rows, with every person's canonical identifier in the place of the cell that names them."""
    import pyarrow

    table = pyarrow.Table.from_batches([rows]) if isinstance(rows, pyarrow.RecordBatch) else rows
    names = pyarrow.array(_barkeep.identifiers(table, person), pyarrow.string())
    return rows.set_column(rows.schema.get_field_index(person), person, names)


def _check_identifies(person: str, kind: str) -> None:
    """Refuses a person column by its type, before a worker would."""
    for start, holds in (("float", "floating-point"), ("double", "floating-point"), ("half", "floating-point"), ("decimal", "decimal")):
        if kind.startswith(start):
            raise DataError(f'data.person = "{person}": the frame holds {holds} numbers there; text or whole numbers are required')


def _answers(found: Sequence[tuple[bytes | None, str]]) -> list[bytes]:
    for _, refused in found:
        if refused:
            raise DataError(refused)
    return [bytes(partial) for partial, _ in found if partial is not None]


def _columns(held: Sequence[str], wanted: Sequence[str]) -> None:
    missing = [name for name in wanted if name not in held]
    if missing:
        raise DataError(f"the records have no column {missing[0]}")


def _spark(frame: Any, wanted: Sequence[str], person: str | None) -> Ask:
    names = list(dict.fromkeys(wanted))
    _columns(frame.columns, names)
    chosen = frame.select(*[f"`{name}`" for name in names])
    if person is not None:
        _check_identifies(person, chosen.schema[person].dataType.typeName())
        # All rows of a person go to one partition: by the identifier that the engine goes by, not by the cell as it is.
        shape = ", ".join(f"`{field.name}` {'string' if field.name == person else field.dataType.simpleString()}" for field in chosen.schema)

        def named(batches: Iterator[Any]) -> Iterator[Any]:
            from barkeep._shards import identified

            return (identified(batch, person) for batch in batches)

        chosen = chosen.mapInArrow(named, shape).repartition(f"`{person}`")

    def ask(plan: bytes, question: bytes) -> list[bytes]:
        def answered(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow
            from pyspark import TaskContext

            from barkeep._shards import answer

            context = TaskContext.get()
            partial, refused = answer(plan, question, 0 if context is None else context.partitionId(), names, batches)
            yield pyarrow.RecordBatch.from_pydict(
                {"partial": pyarrow.array([partial], pyarrow.binary()), "refused": pyarrow.array([refused])}
            )

        rows = chosen.mapInArrow(answered, "partial binary, refused string").collect()
        return _answers([(row[0], row[1]) for row in rows])

    return ask


def _ray(dataset: Any, wanted: Sequence[str], person: str | None) -> Ask:
    import ray

    names = list(dict.fromkeys(wanted))
    _columns(dataset.columns() or names, names)
    chosen = dataset.select_columns(names)
    if person is not None:
        kinds = dict(zip(chosen.schema().names, chosen.schema().types, strict=True))
        _check_identifies(person, str(kinds[person]))

        def named(table: Any) -> Any:
            from barkeep._shards import identified

            return identified(table, person)

        chosen = chosen.map_batches(named, batch_format="pyarrow")
        chosen = chosen.repartition(max(2, chosen.materialize().num_blocks()), keys=[person])
    blocks = chosen.materialize().get_internal_block_refs()

    def answered(plan: bytes, question: bytes, place: int, block: Any) -> tuple[bytes | None, str]:
        from ray.data.block import BlockAccessor

        from barkeep._shards import answer

        return answer(plan, question, place, names, iter(BlockAccessor.for_block(block).to_arrow().to_batches()))

    # A worker that dies is replaced, and its question asked again.
    task = ray.remote(max_retries=-1)(answered)

    def ask(plan: bytes, question: bytes) -> list[bytes]:
        return _answers(ray.get([task.remote(plan, question, place, block) for place, block in enumerate(blocks)]))

    return ask
