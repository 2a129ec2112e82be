"""ArviZ looks at a fit: its tables and pictures, without a group that needs records."""

from __future__ import annotations

import json
import os
import warnings

import numpy as np
import pytest
from conftest import TRIPS

import barkeep as bk

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    az = pytest.importorskip("arviz")
ONE = int(az.__version__.split(".")[0]) >= 1
pytestmark = [
    pytest.mark.filterwarnings("ignore::barkeep.NotToBeTrusted"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
#: Where pictures go, for somebody to look at.
PICTURES = os.environ.get("BARKEEP_PICTURES")


@pytest.fixture(scope="module")
def fit(trips, schema, model, privacy) -> bk.Fit:
    sampler = bk.Sampler("barker", start=[0.0] * 5, proposal_sd=0.02, clip=0.002, steps=800, chains=4)
    return model.fit(bk.Records(trips, schema, count=TRIPS), bk.Privacy(50, 1e-3), sampler, progress=False)


@pytest.fixture(scope="module")
def tree(fit):
    return fit.to_arviz()


def group(tree, name):
    return tree[name].to_dataset() if ONE else tree[name]


def test_groups_levels_and_the_certificate(fit, tree):
    posterior = group(tree, "posterior")
    assert posterior["origin"].dims == ("chain", "draw", "origin_level")
    assert list(posterior["origin_level"].values) == ["JFK", "LGA"]
    assert np.array_equal(posterior["origin"].sel(origin_level="LGA"), fit.draws["origin[LGA]"])
    assert group(tree, "prior")["hour"].shape == (1, 1000)
    assert group(tree, "sample_stats")["accepted"].shape == posterior["hour"].shape
    assert json.loads(posterior.attrs["certificate"])["statement"] == fit.certificate.statement == posterior.attrs["statement"]
    names = set(tree.children if ONE else tree.groups())
    assert names == {"posterior", "prior", "sample_stats"}


def test_the_prior_is_the_declared_one(trips, schema, privacy):
    model = bk.Model("late ~ hour", family="bernoulli", priors={"hour": "normal(3, 0.5)"})
    fit = model.fit(bk.Records(trips, schema, count=TRIPS), privacy, bk.Sampler("langevin", steps=5), progress=False)
    drawn = group(fit.to_arviz(), "prior")["hour"].values
    # A thousand draws: five standard errors.
    assert abs(drawn.mean() - 3) < 5 * 0.5 / np.sqrt(1000) and abs(drawn.std() - 0.5) < 5 * 0.5 / np.sqrt(2000)
    flat = bk.Model("late ~ hour", family="bernoulli", priors={"hour": "flat"})
    start = bk.Sampler("langevin", steps=5, start=[0, 0])
    fit = flat.fit(bk.Records(trips, schema, count=TRIPS), privacy, start, progress=False)
    assert "prior" not in set(fit.to_arviz().children if ONE else fit.to_arviz().groups())


def test_tables_agree_with_the_summary(fit, tree):
    table = az.summary(tree)
    for name in ("hour", "origin[JFK]"):
        assert abs(float(table.loc[name, "mean"]) - fit.summary()[name]["mean"]) < 0.01
    assert az.rhat(tree) is not None and az.ess(tree) is not None and az.hdi(tree) is not None


@pytest.mark.parametrize("name", ["plot_trace", "plot_forest", "plot_rank", "plot_pair", "plot_ess", "plot_dist", "plot_posterior"])
def test_pictures(name, tree):
    pytest.importorskip("matplotlib").use("Agg")
    if not hasattr(az, name) or (name == "plot_dist" and not ONE):
        pytest.skip("this ArviZ has no such picture")
    drawn = getattr(az, name)(tree, **({"backend": "matplotlib"} if ONE else {}))
    if PICTURES:
        if ONE:
            drawn.savefig(os.path.join(PICTURES, f"{name}.png"))
        else:
            import matplotlib.pyplot as plt

            plt.savefig(os.path.join(PICTURES, f"{name}-0.png"))


def test_zarr_holds_the_same(fit, tree, tmp_path):
    pytest.importorskip("zarr", minversion="3")
    xarray = pytest.importorskip("xarray")
    path = fit.save(tmp_path / "run.zarr")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened = az.from_zarr(path) if ONE else xarray.open_datatree(path, engine="zarr")
        for name in ("posterior", "prior", "sample_stats"):
            xarray.testing.assert_identical(opened[name].to_dataset().load(), group(tree, name))
    with pytest.raises(bk.FileError, match="exists"):
        fit.save(path)


def test_loo_says_why_not(fit):
    with pytest.raises(bk.Error, match="likelihood of each record"):
        fit.loo()
