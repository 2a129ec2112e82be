"""Holds the book's page of the Python package to the docstrings it is generated from.

After a docstring or a signature changed, ``BARKEEP_REWRITE=1 pytest tests/test_reference.py`` writes ``docs/python.md`` anew.
"""

from __future__ import annotations

import inspect
import os
from pathlib import Path

import barkeep as bk

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"

HEAD = """# The Python package

[python/README.md](../python/README.md) walks through it. This page lists every name of `import barkeep as bk`; `help(bk.Records)` says more, with
examples that are run as tests.
"""


def first_paragraph(thing: object) -> str:
    words = inspect.getdoc(thing) or ""
    return " ".join(words.split("\n\n")[0].split())


def signature(thing: object) -> str:
    try:
        found = inspect.signature(thing)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "(…)"
    parameters = [each for each in found.parameters.values() if each.name not in ("self", "cls") and each.name[0] != "_"]
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in parameters]
    return str(found.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def members(owner: type) -> list[str]:
    lines = []
    for name, member in sorted(vars(owner).items()):
        if name.startswith("_"):
            continue
        plain = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        words = first_paragraph(plain)
        if isinstance(plain, property):
            lines.append(f"- `{name}`: {words}")
        elif callable(plain):
            lines.append(f"- `{name}{signature(plain)}`: {words}")
    return lines


def page() -> str:
    parts = [HEAD]
    for name in sorted(bk.__all__):
        thing = getattr(bk, name)
        if inspect.isclass(thing) and issubclass(thing, BaseException):
            parts.append(f"\n## `{name}`\n\n{first_paragraph(thing)}\n")
        elif inspect.isclass(thing):
            parts.append(f"\n## `{name}{signature(thing)}`\n\n{first_paragraph(thing)}\n")
            held = members(thing)
            parts += ["\n" + "\n".join(held) + "\n"] if held else []
        elif inspect.ismodule(thing):
            parts.append(f"\n## `{name}`\n\n{first_paragraph(thing)}\n")
        elif callable(thing):
            parts.append(f"\n## `{name}{signature(thing)}`\n\n{first_paragraph(thing)}\n")
    return "".join(parts)


def test_the_page_of_the_book_is_up_to_date():
    made = page()
    if "BARKEEP_REWRITE" in os.environ:
        PAGE.write_text(made, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == made, "docs/python.md is stale; the head of this file says what to do"
