"""How the package behaves: quick to import, watched, stopped, continued, and with the program's words."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import TRIPS

import barkeep as bk

pytestmark = pytest.mark.filterwarnings("ignore::barkeep.NotToBeTrusted")

#: Enough steps to be interrupted, each of which waits for the disk.
MANY = bk.Sampler("barker", start=[0.0] * 5, proposal_sd=0.01, clip=0.001, steps=1500, seed=5)


@pytest.mark.parametrize("module", [module.name for module in pkgutil.iter_modules(bk.__path__)])
def test_examples_in_docstrings(module):
    if module.startswith("__"):
        pytest.skip("a program")
    found = importlib.import_module(f"barkeep.{module}")
    globs = {name: getattr(bk, name) for name in bk.__all__}
    results = doctest.testmod(found, extraglobs=globs, optionflags=doctest.ELLIPSIS)
    assert results.failed == 0


def test_importing_is_quick_and_imports_nothing_large():
    code = "import time; began = time.process_time(); import barkeep, sys; print(time.process_time() - began, 'numpy' in sys.modules)"
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() for _ in range(5)
    ]
    assert {numpy for _, numpy in runs} == {"False"}
    # Processor time: a busy machine is not the package's fault.
    assert min(float(took) for took, _ in runs) < 0.1


def test_a_stopped_run_returns_what_was_paid_for_and_is_continued(trips, schema, model, privacy, monkeypatch, tmp_path):
    records = bk.Records(trips, schema, count=TRIPS)
    whole = model.fit(records, privacy, MANY, insecure_seed=3, progress=False, journal=False)

    def interrupt(self, read, steps, accepted, spent, stopping) -> None:
        if steps > 0 and not stopping:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(bk._progress.Progress, "__call__", interrupt)
    with pytest.warns(bk.Stopped, match="continues it"):
        stopped = model.fit(records, privacy, MANY, insecure_seed=3, progress=False)
    assert stopped.interrupted and 0 < stopped.steps_used[0] < whole.steps_used[0]
    assert stopped.certificate["steps_used"] == stopped.steps_used
    assert stopped.certificate.text and not stopped.certificate.private
    monkeypatch.undo()
    # A copy that could be continued would be a second run at no charge.
    kept = stopped.save(tmp_path / "kept")
    assert not os.path.exists(os.path.join(kept, "journal.bin"))
    with pytest.raises(bk.FileError, match="no journal here"):
        bk.resume(kept, records)
    continued = stopped.resume(progress=False)
    assert continued.steps_used == whole.steps_used
    for name, draws in whole.draws.items():
        assert np.array_equal(continued.draws[name], draws)
    with pytest.raises(bk.Error, match="nothing to continue"):
        continued.resume()


def test_other_threads_run_while_a_fit_does(trips, schema, model, privacy):
    beats, ended = [], threading.Event()

    def beat() -> None:
        while not ended.wait(0.01):
            beats.append(time.monotonic())

    thread = threading.Thread(target=beat)
    thread.start()
    before = time.monotonic()
    model.fit(bk.Records(trips, schema, count=TRIPS), privacy, MANY, insecure_seed=3, progress=False)
    after = time.monotonic()
    ended.set()
    thread.join()
    # Who holds the lock lets nobody else come in between.
    assert sum(before < beat < after for beat in beats) >= 5


def test_python_is_called_by_the_clock_not_by_the_step(trips, schema, model, privacy, monkeypatch):
    calls = []
    monkeypatch.setattr(bk._progress.Progress, "__call__", lambda self, *heard: calls.append(heard))
    began = time.monotonic()
    fit = model.fit(bk.Records(trips, schema, count=TRIPS), privacy, MANY, insecure_seed=3, journal=False)
    assert len(calls) <= 1 + (time.monotonic() - began) / 0.05
    assert len(calls) < sum(fit.steps_used)


def test_progress_is_one_line_and_says_what_is_spent(capsys, monkeypatch):
    class Plan:
        steps, chains, epsilon = 100, 2, 1.0

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    bar = bk._progress.Progress(Plan, True)
    bar(0, 50, 20, 0.4, False)
    bar.end()
    shown = capsys.readouterr().err
    assert "50 of 200 steps, epsilon at most 0.400, accepted 40 %" in shown and "\n" not in shown
    quiet = bk._progress.Progress(Plan, False)
    quiet(0, 50, 20, 0.4, False)
    quiet.end()
    assert capsys.readouterr().err == ""


def test_what_cannot_be_trusted_says_so(trips, schema, model, privacy):
    with pytest.warns(bk.NotToBeTrusted, match="not to be trusted"):
        fit = model.fit(bk.Records(trips, schema, count=TRIPS), privacy, bk.Sampler("langevin", steps=3), progress=False)
    assert not fit.verdict and fit.verdict.grade == "not to be trusted" and fit.verdict.remedies


def test_errors_have_the_words_of_the_program(schema, privacy):
    with pytest.raises(bk.SpecError, match="did you mean `hour`"):
        bk.Model("late ~ hours", family="bernoulli").plan(schema, 100, privacy)
    with pytest.raises(bk.SpecError, match="unknown key"):
        bk.Model("late ~ hour", family="bernoulli").plan(schema, 100, privacy, bk.Sampler("langevin", stepz=3))
    with pytest.raises(bk.BudgetError, match="does not buy one step"):
        bk.Model("late ~ hour", family="bernoulli").plan(schema, 3, bk.Privacy(1e-3, 1e-6), bk.Sampler("langevin"))
    with pytest.raises(bk.SpecError, match="finite numbers"):
        bk.Model("late ~ hour", family="bernoulli").plan(schema, 3, bk.Privacy(float("nan"), 1e-6))
    with pytest.raises(bk.FileError, match="not empty"):
        folder = os.path.dirname(__file__)
        bk.Model("late ~ hour", family="bernoulli").fit(
            bk.Records({name: [None] for name in schema}, schema, count=1),
            bk.Privacy.not_private(), bk.Sampler("rwmh", start=[0, 0], proposal_sd=1, steps=1), folder=folder,
        )


def test_a_saved_run_is_what_the_program_verifies(trips, schema, model, privacy, tmp_path):
    fit = model.fit(bk.Records(trips, schema, count=TRIPS), privacy, progress=False)
    folder = fit.save(tmp_path / "kept")
    with pytest.raises(bk.FileError, match="exists"):
        fit.save(folder)
    ran = subprocess.run(
        [sys.executable, "-m", "barkeep", "verify", os.path.join(folder, "certificate.json")], capture_output=True, text=True
    )
    assert ran.returncode == 0 and "the files beside it are those the run left" in ran.stdout


def test_the_folder_of_a_fit_goes_with_it(trips, schema, model, privacy):
    fit = model.fit(bk.Records(trips, schema, count=TRIPS), privacy, progress=False)
    folder = fit.folder
    assert os.path.exists(folder)
    del fit
    assert not os.path.exists(folder)


def test_the_program_has_its_exit_codes():
    run = lambda *arguments: subprocess.run([sys.executable, "-m", "barkeep", *arguments], capture_output=True, text=True)  # noqa: E731
    assert run("--version").stdout.startswith("barkeep ")
    assert run("plan", "nowhere.toml").returncode == 2
    assert run("samplers").returncode == 0
