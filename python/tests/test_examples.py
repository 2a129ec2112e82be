"""The notebook and the README run as they are written."""

from __future__ import annotations

import pathlib
import re

import numpy as np
import pytest

import barkeep as bk

FOLDER = pathlib.Path(__file__).parent.parent
pytestmark = pytest.mark.filterwarnings("ignore::barkeep.NotToBeTrusted", "ignore::FutureWarning")


@pytest.mark.parametrize("notebook", sorted((FOLDER / "examples").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks(notebook, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    content = nbformat.read(notebook, as_version=4)
    nbclient.NotebookClient(content, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in content.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("differentially private" in str(output) for output in shown)
    # Progress is HTML by display id, and gone in the end.
    assert not any("<progress" in str(output) for output in shown)


def test_the_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (FOLDER / "README.md").read_text(encoding="utf-8").replace("336_776", "20_000")
    rng = np.random.default_rng(1)
    count = 20_000
    frame = {
        "late": rng.random(count) < 0.2,
        "hour": rng.integers(5, 24, count),
        "origin": rng.choice(np.array(["EWR", "JFK", "LGA"]), count),
    }
    (tmp_path / "trial.model").write_text("parameters\n  m ~ normal(0, 1)\nrecord\n  x ~ normal(m, 1)\n")
    known = {"frame": frame, "bk": bk}
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) >= 3
    for block in blocks:
        exec(compile(block, "README.md", "exec"), known)
