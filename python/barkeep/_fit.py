"""Fits: draws, summary, verdict and certificate. All of it is public."""

from __future__ import annotations

import html
import json
import os
import warnings
import weakref
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _barkeep
from ._errors import Error, FileError, NotToBeTrusted, Stopped
from ._plan import Plan
from ._progress import Progress
from ._records import Records

if TYPE_CHECKING:
    import numpy as np

    from ._predict import Predictions


class _Public(Mapping[str, Any]):
    """A public JSON object, to be read like a dictionary."""

    _json: dict[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self._json[key]

    def __iter__(self) -> Any:
        return iter(self._json)

    def __len__(self) -> int:
        return len(self._json)


class Certificate(_Public):
    """What a run guarantees and under which premises, as in ``certificate.json``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._json = json.loads(text)

    @property
    def statement(self) -> str:
        """The guarantee in one sentence, or that there is none."""
        return self._json["statement"]

    @property
    def epsilon(self) -> float | None:
        """ε, an upper bound; `None` without a guarantee."""
        return self._json["epsilon"]

    @property
    def delta(self) -> float | None:
        """δ; `None` without a guarantee."""
        return self._json["delta"]

    @property
    def private(self) -> bool:
        """Whether there is a guarantee."""
        return self._json["private"] and not self._json["insecure_seed"]

    def __repr__(self) -> str:
        return f"Certificate({self.statement!r})"


class Verdict(_Public):
    """What the posterior is good for: ``"trustworthy"``, ``"wide"`` or ``"not to be trusted"``, with reasons and remedies."""

    def __init__(self, verdict: dict[str, Any], words: str) -> None:
        self._json = verdict
        self._words = words

    @property
    def grade(self) -> str:
        """The worst grade of all checks."""
        return self._json["grade"]

    @property
    def reasons(self) -> list[str]:
        """What the checks of that grade found."""
        return self._json["reasons"]

    @property
    def remedies(self) -> list[str]:
        """What to do about it."""
        return self._json["remedies"]

    def __bool__(self) -> bool:
        """Whether intervals hold what they promise."""
        return self.grade != "not to be trusted"

    def __repr__(self) -> str:
        return self._words


class Summary(Mapping[str, dict[str, Any]]):
    """Where the posterior lies: a row of figures for each parameter and quantity, by name."""

    def __init__(self, summary: dict[str, Any], table: str) -> None:
        self._json = summary
        self._table = table
        rows = summary["parameters"] + summary.get("quantities", [])
        self._rows = {row["name"]: {key: row[key] for key in row if key != "name"} for row in rows}

    def to_dict(self) -> dict[str, Any]:
        """Everything, as in ``summary.json``."""
        return dict(self._json)

    @property
    def original_units(self) -> dict[str, dict[str, Any]]:
        """The same in the columns' own units, where the model sees others; by name."""
        rows = self._json.get("original_units") or []
        return {row["name"]: {key: row[key] for key in row if key != "name"} for row in rows}

    def to_pandas(self) -> Any:
        """A DataFrame with one row for each parameter and quantity."""
        import pandas

        frame = pandas.DataFrame.from_dict(self._rows, orient="index")
        if "interval_89" in frame:
            frame = frame.drop(columns="interval_89").assign(
                eti89_lb=[(row["interval_89"] or [None, None])[0] for row in self._rows.values()],
                eti89_ub=[(row["interval_89"] or [None, None])[1] for row in self._rows.values()],
            )
        return frame

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self._rows[name]

    def __iter__(self) -> Any:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return self._table.rstrip("\n")

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


class Fit:
    """A run that has ended: draws, summary, verdict and certificate."""

    def __init__(self, plan: Plan, saved: _barkeep.Saved, records: Records | None) -> None:
        self.plan = plan
        self._saved = saved
        self._records = records

    @cached_property
    def certificate(self) -> Certificate:
        """What the run guarantees."""
        return Certificate(self._saved.certificate())

    @cached_property
    def _summary(self) -> dict[str, Any]:
        return json.loads(self._saved.summary())

    def summary(self) -> Summary:
        """Where the posterior lies and how far the chains can be trusted."""
        return Summary(self._summary, self._saved.table())

    @cached_property
    def verdict(self) -> Verdict:
        """What the posterior is good for."""
        return Verdict(self._summary["verdict"], self._saved.verdict())

    @property
    def folder(self) -> str:
        """Where the run's files are: draws, summary, certificate and journal."""
        return os.fspath(self._saved.folder)

    @property
    def seed(self) -> int:
        """Seed of the proposals."""
        return self._saved.seed

    @property
    def steps_used(self) -> list[int]:
        """Steps each chain made."""
        return self._saved.steps_used

    @property
    def interrupted(self) -> bool:
        """Whether a person stopped it."""
        return self._saved.interrupted

    @cached_property
    def draws(self) -> dict[str, np.ndarray]:
        """The draws after warm-up by parameter and quantity, each an array of chain × draw.

        Where chains differ in length the longer ones are cut to the shortest.
        """
        import numpy as np

        drawn: dict[str, np.ndarray] = {}
        rows = self._summary["parameters"] + self._summary.get("quantities", [])
        for place, row in enumerate(rows):
            chains = [np.frombuffer(chain, dtype=np.float64) for chain in self._saved.series(place)]
            shortest = min((len(chain) for chain in chains), default=0)
            drawn[row["name"]] = np.stack([chain[:shortest] for chain in chains])
        return drawn

    @cached_property
    def outcomes(self) -> np.ndarray | None:
        """Whether each step's proposal was accepted, chain × draw after warm-up; `None` for samplers that test none."""
        import numpy as np

        burn_in = self._summary["burn_in"]
        chains = [np.frombuffer(chain, dtype=np.uint8)[burn_in:] for chain in self._saved.outcomes()]
        shortest = min((len(chain) for chain in chains), default=0)
        if shortest == 0 or any((chain == 2).any() for chain in chains):
            return None
        return np.stack([chain[:shortest] for chain in chains]) == 1

    def _prior(self, draws: int, seed: int) -> dict[str, np.ndarray] | None:
        """Draws of the prior, one chain; `None` where the prior is improper."""
        import numpy as np

        drawn = self.plan._plan.prior(draws, seed)
        if drawn is None:
            return None
        names = self.plan._plan.parameters() + self.plan._plan.quantities()
        values = np.frombuffer(drawn, dtype=np.float64).reshape(draws, len(names))
        return {name: values[np.newaxis, :, place].copy() for place, name in enumerate(names)}

    def to_arviz(self) -> Any:
        """What ArviZ needs to look at the posterior: a DataTree for ArviZ 1.x, InferenceData for 0.2x.

        Levels are coordinates, the certificate is an attribute. There is no group that would need records.
        """
        from ._arviz import to_arviz

        return to_arviz(self)

    def predict(
        self, profiles: Any, *, against: str | None = None, along: Any = (), points: int = 11
    ) -> Predictions:
        """Expectations, predictive intervals, contrasts and effects at public profiles. It costs nothing: draws are public.

        ``profiles`` are rows of the columns that the model predicts from: a list of dicts, a dict of dicts or of lists, a DataFrame,
        or a CSV file; ``profile`` names one. Never somebody's record. The others are compared with ``against``, or with the first.
        ``along`` names columns to follow over their bounds or levels.
        """
        from ._predict import predict

        return predict(self.folder, profiles, against, [along] if isinstance(along, str) else along, points)

    def report(self, path: Any, *, at: Any = None, ledger: Any = None) -> str:
        """Writes one HTML page about the run, for people, and returns its path. ``at`` are profiles as for `predict`; ``ledger`` shows
        the account before and after."""
        from ._predict import rows

        books = None if ledger is None else os.fspath(getattr(ledger, "path", ledger))
        page = _barkeep.report(self.folder, None if at is None else rows(at), books)
        target = os.fspath(path)
        with open(target, "w", encoding="utf-8") as file:
            file.write(page)
        return target

    def save(self, path: Any) -> str:
        """Keeps the run: as Zarr for ``az.from_zarr`` where the name ends in ``.zarr``, else as a copy of its folder, which
        ``barkeep verify`` understands. The journal of a run that has not ended stays where it is: a copy could be continued, too."""
        target = os.fspath(path)
        if target.endswith(".zarr"):
            from ._arviz import save_zarr

            return save_zarr(self, target)
        import shutil

        try:
            unfinished = shutil.ignore_patterns("journal.bin", ".*") if self.interrupted else None
            shutil.copytree(self.folder, target, ignore=unfinished)
        except FileExistsError:
            raise FileError(f"{target} exists; name a new folder, so that no earlier result is lost") from None
        return target

    def loo(self) -> Any:
        """Never: it would need the records."""
        raise Error(
            "loo needs the likelihood of each record at each draw, which is private and was not paid for; compare models by what "
            "they predict, or by fits to simulated records"
        )

    def resume(self, records: Records | None = None, *, progress: bool = True) -> Fit:
        """Continues a run that was stopped, and spends only what was planned. That the records are the same is your promise."""
        if not self._saved.resumable:
            raise Error("there is nothing to continue: the run has ended, or no journal was kept")
        return resume(self.folder, records or self._records, progress=progress, _keep=self)

    def __repr__(self) -> str:
        stopped = ", stopped by request" if self.interrupted else ""
        return f"{self.verdict!r}\n\n{self.summary()!r}\n\n{self.certificate.statement}{stopped}"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def run(
    plan: Plan,
    records: Records,
    *,
    folder: Any,
    progress: bool,
    journal: bool,
    insecure_seed: int | None,
    sign: Any,
) -> Fit:
    """Runs a plan over records: one call into the extension."""
    import shutil
    import tempfile

    temporary = folder is None
    place = os.path.join(tempfile.mkdtemp(prefix="barkeep-"), "run") if temporary else os.fspath(folder)
    bar = Progress(plan, progress)
    try:
        # A frame is not looked at before its run is paid for.
        saved = _barkeep.new_run(
            plan._plan,
            records._later(records._names() if _charged(plan._plan.toml()) else plan._plan.reads()),
            place,
            bar,
            journal=journal,
            insecure_seed=insecure_seed,
            sign=sign,
        )
    except BaseException:
        if temporary:
            shutil.rmtree(os.path.dirname(place), ignore_errors=True)
        raise
    finally:
        bar.end()
    fit = Fit(plan, saved, records)
    if temporary:
        weakref.finalize(fit, shutil.rmtree, os.path.dirname(place), True)
    return _ended(fit)


def _charged(spec: str) -> bool:
    """Whether a spec names an account, which must know the records again."""
    import tomllib

    return "ledger" in tomllib.loads(spec).get("privacy", {})


def resume(
    folder: Any, records: Records | None = None, *, progress: bool = True, sign: Any = None, _keep: Any = None
) -> Fit:
    """Continues the run in a folder that was killed or stopped, and spends only what was planned.

    ``records`` are needed where they were a frame; files are found where they were, or where ``records`` says.
    """
    place = os.fspath(folder)
    path = None if records is None else records.path
    with open(os.path.join(place, "certificate.json"), encoding="utf-8") as file:
        import tomllib

        spec = tomllib.loads(json.load(file)["spec"])["data"]
    in_memory = spec.get("path") == "in memory"
    if in_memory and (records is None or path is not None):
        raise FileError(f"{place}: its records were a frame or several files; give them again, as resume(folder, records)")
    reads = list(spec["columns"]) + ([spec["person"]] if "person" in spec else [])
    bar = _Unknown(progress)
    try:
        plan, saved = _barkeep.resume_run(
            None if records is None else records._later(reads),
            place,
            bar,
            path=path,
            sign=sign,
        )
    finally:
        bar.end()
    fit = Fit(Plan(plan), saved, records)
    # The temporary folder of the run that is continued stays as long as this fit does.
    fit.__dict__["_kept"] = _keep
    return _ended(fit)


class _Unknown(Progress):
    """Progress of a run whose plan is made on the way."""

    def __init__(self, shown: bool) -> None:
        class Nothing:
            steps, chains, epsilon = 0, 0, None

        super().__init__(Nothing, shown)

    def _words(self, read: int, steps: int, accepted: int, spent: float | None, stopping: bool, seconds: float) -> str:
        return "stopping before the next step" if stopping else f"{steps} steps"


def _ended(fit: Fit) -> Fit:
    if fit.interrupted:
        words = "stopped by request; what was drawn is valid and costs what the certificate says"
        warnings.warn(words + ("; fit.resume() continues it" if fit._saved.resumable else ""), Stopped, stacklevel=4)
    elif not fit.verdict:
        warnings.warn(repr(fit.verdict), NotToBeTrusted, stacklevel=4)
    return fit
