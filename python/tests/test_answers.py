"""Accounting, audits, verification, ledgers, own models and simulation, by the answers of the program."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import TRIPS, written

import barkeep as bk

pytestmark = pytest.mark.filterwarnings("ignore::barkeep.NotToBeTrusted")


def program(*arguments: str) -> str:
    return subprocess.run([sys.executable, "-m", "barkeep", *arguments], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("gaussian", {"ratio": 20.0}),
        ("subsampled_gaussian", {"ratio": 2.0, "rate": 0.01, "sampling": "poisson", "neighbours": "add-remove"}),
        ("laplace", {"ratio": 30.0}),
        ("exponential", {"range": 0.01}),
        ("decision", {"rule": "barker", "sensitivity": 0.05}),
        ("concentrated", {"rho": 1e-4}),
    ],
)
def test_mechanisms_cost_what_the_program_says(name, keys):
    answer = getattr(bk.account, name)(**keys, steps=100, delta=1e-6)
    options = [f"--{key.replace('_', '-')}={value}" for key, value in {**keys, "steps": 100, "delta": 1e-6}.items()]
    shown = json.loads(program("account", name.replace("_", "-"), *options, "--json"))
    assert (answer.epsilon, answer.epsilon.lower) == (shown["epsilon"]["upper"], shown["epsilon"].get("lower"))
    assert answer.method == shown["method"] and 0 < answer.epsilon
    bought = getattr(bk.account, name)(**keys, epsilon=1.0, delta=1e-6)
    options = [*options[:-2], "--epsilon=1.0", options[-1]]
    assert bought.steps == json.loads(program("account", name.replace("_", "-"), *options, "--json"))["steps"]


def test_the_accountant_lists_and_refuses():
    assert set(dir(bk.account)) >= {"gaussian", "barker_minibatch", "compose", "profile"}
    assert "normal noise" in bk.account.gaussian.__doc__
    many = bk.account.gaussian(ratio=20.0, steps=[10, 100], delta=1e-6)
    assert [each.steps for each in many] == [10, 100] and many[0].epsilon < many[1].epsilon
    assert bk.account.gaussian(solve="noise", steps=100, epsilon=1.0, delta=1e-6).solved > 1
    with pytest.raises(AttributeError, match="knows no mechanism"):
        bk.account.gausian(ratio=1)
    with pytest.raises(bk.Error, match="leave one out"):
        bk.account.gaussian(ratio=20, steps=1, epsilon=1, delta=1e-6)
    with pytest.raises(bk.Error, match="unexpected argument"):
        bk.account.gaussian(ratios=20, steps=1, delta=1e-6)


def test_certificates_compose_and_are_verified(trips, schema, model, privacy, tmp_path):
    few = bk.Sampler("langevin", steps=10)
    fits = [model.fit(bk.Records(trips, schema, count=TRIPS), privacy, few, progress=False, folder=tmp_path / str(i)) for i in range(2)]
    certificates = [os.path.join(fit.folder, "certificate.json") for fit in fits]
    both = bk.account.compose(*certificates, delta=1e-6)
    assert fits[0].certificate.epsilon < both.epsilon < 2 * privacy._entry["epsilon"]
    assert bk.account.compose(*certificates, delta=1e-6, adaptive=True).epsilon >= both.epsilon
    verified = bk.verify(fits[0])
    assert verified.epsilon <= fits[0].certificate.epsilon and "those the run left" in repr(verified)
    with open(os.path.join(fits[0].folder, "draws.csv"), "a") as file:
        file.write("1,1,false,0,0,0,0,0\n")
    with pytest.raises(bk.CertificateError):
        bk.verify(fits[0].folder)


def test_an_audit_proves_less_than_is_certified(schema, model):
    plan = bk.Model(name="gaussian", covariance=1.0).plan(
        bk.Schema(x=bk.Real(-1, 1, invalid=0)), 50, bk.Privacy(2, 1e-3), bk.Sampler("statistics", clip=1)
    )
    found = bk.audit(plan, trials=3000, seed=1)
    assert found and found.rows[0]["audited"] <= found.rows[0]["certified"] and "certified" in repr(found)


def test_a_ledger_pays_for_files_and_refuses_beyond_its_total(trips, schema, model, tmp_path):
    path = written(trips, str(tmp_path / "trips.csv"))
    books = bk.Ledger.new(tmp_path / "books")
    few = bk.Sampler("langevin", steps=5)
    once = model.plan(schema, TRIPS, bk.Privacy(epsilon=1, delta=1e-6), few).epsilon
    books.open("cohort", epsilon=1.2 * once, delta=1e-6)
    assert books.add("cohort", "trips", bk.Records(path, schema, count=TRIPS)) == 1
    paid = bk.Privacy(epsilon=1, delta=1e-6, ledger=books, account="cohort")
    fit = model.fit(bk.Records(path, schema, count=TRIPS), paid, few, progress=False)
    assert "reservation" in repr(bk.verify(fit, ledger=books))
    assert books.account("cohort")["spent"] >= 0.9 * once and len(books.account("cohort")["runs"]) == 1
    with pytest.raises(bk.LedgerError):
        model.fit(bk.Records(path, schema, count=TRIPS), paid, few, progress=False)
    # The bill that was refused is priced again too.
    assert books.check()["bills"] == 2 and "cohort" in repr(books)


def test_a_ledger_pays_for_frames_it_knows(trips, schema, model, tmp_path):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    books = bk.Ledger.new(tmp_path / "books")
    few = bk.Sampler("langevin", steps=5)
    books.open("cohort", epsilon=4, delta=1e-6)
    frame = bk.Records(pd.DataFrame(trips), schema, count=TRIPS)
    assert books.add("cohort", "trips", frame) == 1
    paid = bk.Privacy(epsilon=1, delta=1e-6, ledger=books, account="cohort")
    # The same cells in another library's types are the same data.
    for known in (frame, bk.Records(pl.DataFrame(trips), schema, count=TRIPS), bk.Records(trips, schema, count=TRIPS)):
        fit = model.fit(known, paid, few, progress=False)
        assert "reservation" in repr(bk.verify(fit, ledger=books))
    assert len(books.account("cohort")["runs"]) == 3
    # So is a file of them, in whatever account somebody would like to have it.
    path = written(trips, str(tmp_path / "trips.csv"))
    books.open("another", epsilon=4, delta=1e-6)
    with pytest.raises(bk.LedgerError, match='in account "cohort" already'):
        books.add("another", "trips", bk.Records(path, schema, count=TRIPS))
    # Another cell or another order is not. The account pays before anything is read, so that nothing of a refusal is for nothing.
    other = {**trips, "hour": trips["hour"] + 1}
    turned = {name: cells[::-1] for name, cells in trips.items()}
    for unknown in (other, turned):
        with pytest.raises(bk.FileError, match="stays spent"):
            model.fit(bk.Records(unknown, schema, count=TRIPS), paid, few, progress=False)
    assert len(books.account("cohort")["runs"]) == 5
    # A run that declares something else is refused before anything is spent.
    with pytest.raises(bk.LedgerError, match=f"the run's is {TRIPS - 1}"):
        model.fit(bk.Records(trips, schema, count=TRIPS - 1), paid, few, progress=False)
    with pytest.raises(bk.LedgerError, match='persons by column "who"'):
        model.fit(bk.Records({**trips, "who": trips["hour"]}, schema, count=TRIPS, person="who", most_rows=1), paid, few, progress=False)
    assert len(books.account("cohort")["runs"]) == 5


def test_a_frame_is_read_once_and_only_when_it_is_paid_for(trips, schema, model, tmp_path):
    pa = pytest.importorskip("pyarrow")

    class Watched:
        """A frame that counts how often it is handed over, and what was spent by then."""

        def __init__(self, books):
            self.table, self.books, self.spent = pa.table(trips), books, []

        def __arrow_c_stream__(self, requested_schema=None):
            self.spent.append(len(self.books.account("cohort")["runs"]))
            return self.table.__arrow_c_stream__(requested_schema)

    books = bk.Ledger.new(tmp_path / "books")
    books.open("cohort", epsilon=1.2, delta=1e-6)
    books.add("cohort", "trips", bk.Records(trips, schema, count=TRIPS))
    paid = bk.Privacy(epsilon=1, delta=1e-6, ledger=books, account="cohort")
    frame = Watched(books)
    records = bk.Records(frame, schema, count=TRIPS)
    model.fit(records, paid, bk.Sampler("langevin", steps=5), progress=False)
    assert frame.spent == [1], "read once, after the account had paid"
    with pytest.raises(bk.LedgerError):
        model.fit(records, paid, progress=False)
    assert frame.spent == [1], "what nobody pays for is not looked at"


def test_a_traced_function_is_the_text_it_writes(trips, schema, privacy):
    @bk.model
    def traced(m, late, hour, origin):
        a = m.parameter("a", m.normal(0, 2), over=origin)
        slope = m.parameter("slope", m.normal(0, 2.5))
        eta = m.let("eta", a[origin] + slope * hour)
        m.observe(late, m.bernoulli_logit(eta))

    text = """
parameters
  a[origin] ~ normal(0, 2)
  slope ~ normal(0, 2.5)
record
  eta = a[origin] + slope * hour
  late ~ bernoulli_logit(eta)
"""
    few = bk.Sampler("langevin", steps=10)
    records = bk.Records(trips, schema, count=TRIPS)
    draws = [m.fit(records, privacy, few, insecure_seed=1, progress=False).draws for m in (traced, bk.Model(text=text))]
    assert list(draws[0]) == ["a[EWR]", "a[JFK]", "a[LGA]", "slope"]
    for name in draws[0]:
        assert np.array_equal(draws[0][name], draws[1][name])


def test_a_traced_function_never_sees_data():
    with pytest.raises(TypeError, match="sees no data"):

        @bk.model
        def looks(m, x):
            if x > 3:
                pass

    with pytest.raises(TypeError, match="sees no data"):
        bk.model(lambda m, x: float(x))

    numbers = bk.model(lambda m, x: m.log_density(np.exp(-x) + 2 * np.float64(3) - 1 / x))
    assert "log_density = ((exp((-x)) + (2 * 3.0)) - (1 / x))" in numbers.text or "exp((-x))" in numbers.text


def test_simulated_records_are_read_by_the_schema_that_made_them(schema, model, tmp_path):
    path = tmp_path / "made.csv"
    with pytest.warns(UserWarning, match="fill their bounds"):
        assert bk.simulate(model, schema, 500, [0, 1, 0, 0, 0], path, seed=3) is None
    made = bk.simulate(model, schema, 500, [0, 1, 0, 0, 0], seed=3)
    assert [column.dtype.kind for column in made.values()] == ["b", "i", "U", "f"]
    few = bk.Sampler("langevin", steps=10)
    fits = [
        model.fit(bk.Records(data, schema, count=500), bk.Privacy(10, 1e-3), few, insecure_seed=1, progress=False)
        for data in (path, made)
    ]
    assert list(fits[0].summary()) == ["intercept", "hour", "origin[JFK]", "origin[LGA]", "distance"]
    assert all(np.array_equal(fits[0].draws[name], draws) for name, draws in fits[1].draws.items())
    with pytest.raises(bk.Error, match="theta must hold 5 numbers: intercept"):
        bk.simulate(model, schema, 500, [0], path)


def test_plans_say_what_the_program_says(schema, model, privacy, tmp_path):
    plan = model.plan(schema, 100_000, privacy)
    (tmp_path / "spec.toml").write_text(plan.spec)
    shown = json.loads(program("plan", str(tmp_path / "spec.toml"), "--json"))
    assert plan.expected_error == shown["expected_error"] and plan.epsilon == shown["epsilon"]["upper"]
    assert plan.alternatives() == shown["alternatives"]
    epsilon = model.epsilon_for(schema, 100_000, delta=1e-6, expected_error=0.5)
    reached = model.plan(schema, 100_000, bk.Privacy(epsilon, 1e-6))
    assert reached.expected_error is not None and reached.expected_error <= 0.5


def test_predictions_are_those_of_the_program(trips, schema, model, privacy, tmp_path):
    fit = model.fit(bk.Records(trips, schema, count=TRIPS), privacy, progress=False, folder=tmp_path / "run")
    profiles = [
        {"profile": "morning", "hour": 6, "origin": "EWR", "distance": 500.0},
        {"profile": "night", "hour": 22, "origin": "JFK", "distance": 500.0},
    ]
    found = fit.predict(profiles, along="hour", points=3)
    lines = ["profile,hour,origin,distance", "morning,6,EWR,500.0", "night,22,JFK,500.0"]
    (tmp_path / "at.csv").write_text("\n".join(lines) + "\n")
    arguments = ["--at", str(tmp_path / "at.csv"), "--along", "hour", "--points", "3"]
    assert found.to_dict() == json.loads(program("predict", str(tmp_path / "run"), *arguments, "--json"))
    assert repr(found) == program("predict", str(tmp_path / "run"), *arguments).rstrip("\n")
    assert 0 < found["night"]["expectation"]["mean"] < 1 and len(found.curves[0]["points"]) == 3
    pd = pytest.importorskip("pandas")
    columns = {name: [profile[name] for profile in profiles] for name in profiles[0]}
    named = {profile["profile"]: {key: profile[key] for key in profile if key != "profile"} for profile in profiles}
    for same in (pd.DataFrame(profiles), columns, tmp_path / "at.csv", named):
        assert fit.predict(same, along=["hour"], points=3).to_dict() == found.to_dict()
    page = fit.report(tmp_path / "report.html", at=profiles)
    program("report", str(tmp_path / "run"), "--at", str(tmp_path / "at.csv"), "--out", str(tmp_path / "own.html"))
    with open(page, encoding="utf-8") as ours, open(tmp_path / "own.html", encoding="utf-8") as own:
        assert ours.read() == own.read()
    with pytest.raises(bk.Error, match="outside|bounds|from"):
        fit.predict([{"hour": 99, "origin": "EWR", "distance": 1}])
