"""Shows how far a run is, in a terminal or in a notebook. Everything shown is public."""

from __future__ import annotations

import html
import importlib
import sys
import time
from typing import Any


class Progress:
    """One line, written anew a few times a second; nothing where nobody looks."""

    def __init__(self, plan: Any, shown: bool) -> None:
        self._total = plan.steps * plan.chains
        self._whole = plan.epsilon
        self._began = time.monotonic()
        self._last = 0.0
        self._display: Any = None
        self._terminal = False
        if not shown:
            return
        if _in_notebook():
            shows: Any = importlib.import_module("IPython.display")
            self._html: Any = shows.HTML
            self._display = shows.display(shows.HTML(""), display_id=True)
        else:
            self._terminal = sys.stderr is not None and sys.stderr.isatty()

    @property
    def shown(self) -> bool:
        """Whether somebody looks."""
        return self._terminal or self._display is not None

    def __call__(self, read: int, steps: int, accepted: int, spent: float | None, stopping: bool) -> None:
        now = time.monotonic()
        if not self.shown or now - self._last < 0.2:
            return
        self._last = now
        words = self._words(read, steps, accepted, spent, stopping, now - self._began)
        share = steps / max(self._total, 1)
        if self._terminal:
            bar = "█" * int(30 * share)
            sys.stderr.write(f"\r\x1b[2K{bar:░<30} {words}")
            sys.stderr.flush()
        else:
            self._display.update(
                self._html(f'<progress max="1" value="{share:.4f}"></progress> <code>{html.escape(words)}</code>')
            )

    def _words(
        self, read: int, steps: int, accepted: int, spent: float | None, stopping: bool, seconds: float
    ) -> str:
        if stopping:
            return "stopping before the next step"
        if steps == 0:
            return f"reading, {read} records" if read else "asking"
        cost = spent if spent is not None else self._whole
        words = f"{steps} of {self._total} steps, "
        words += "NOT PRIVATE" if cost is None else f"epsilon at most {cost:.3f}"
        if accepted:
            words += f", accepted {100 * accepted / steps:.0f} %"
        left = seconds * (self._total - steps) / steps
        return words + (f", {left:.0f} s left" if left >= 1 else "")

    def end(self) -> None:
        """Takes the line away."""
        if self._terminal:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
        elif self._display is not None:
            self._display.update(self._html(""))


def _in_notebook() -> bool:
    """Whether this is a notebook's kernel; IPython is not imported to find out."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
