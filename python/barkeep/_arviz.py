"""What ArviZ knows of a fit: posterior, prior and sample statistics. Groups that would need records are never written."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from ._errors import FileError

if TYPE_CHECKING:
    from ._fit import Fit

#: A variable's further dimensions and its values, chain × draw first.
Variables = dict[str, tuple[tuple[str, ...], Any]]

#: Draws of the prior, with a seed that everybody knows: the prior is public.
PRIOR_DRAWS = 1000
PRIOR_SEED = 0

_INDEXED = re.compile(r"(.+)\[([^\[\]]+)\]\Z")


def groups(fit: Fit) -> tuple[dict[str, Variables], dict[str, list[str]]]:
    """The groups, and the names of levels by dimension."""
    posterior, levels = _gathered(fit.draws)
    found = {"posterior": posterior}
    prior = fit._prior(PRIOR_DRAWS, PRIOR_SEED)
    if prior is not None:
        found["prior"] = _gathered(prior)[0]
    accepted = fit.outcomes
    if accepted is not None:
        found["sample_stats"] = {"accepted": ((), accepted)}
    return found, levels


def _gathered(draws: dict[str, Any]) -> tuple[Variables, dict[str, list[str]]]:
    """Draws by variable: ``origin[JFK]`` and ``origin[LGA]`` become one with a dimension of levels."""
    import numpy as np

    families: dict[str, list[tuple[str, str]]] = {}
    for name in draws:
        indexed = _INDEXED.match(name)
        if indexed is not None:
            families.setdefault(indexed[1], []).append((indexed[2], name))
    variables: Variables = {}
    levels: dict[str, list[str]] = {}
    for name, values in draws.items():
        indexed = _INDEXED.match(name)
        base = name if indexed is None else indexed[1]
        # A name that also stands alone stays as it is.
        if indexed is None or base in draws:
            variables[name] = ((), values)
        elif base not in variables:
            dimension = f"{base}_level"
            levels[dimension] = [level for level, _ in families[base]]
            variables[base] = ((dimension,), np.stack([draws[each] for _, each in families[base]], axis=-1))
    return variables, levels


def attributes(fit: Fit) -> dict[str, Any]:
    """What every group says of the run: its certificate, word for word, and what the posterior is good for."""
    from . import __version__

    certificate = fit.certificate
    said: dict[str, Any] = {
        "inference_library": "barkeep",
        "inference_library_version": __version__,
        "verdict": fit.verdict.grade,
        "statement": certificate.statement,
        "private": int(certificate.private),
        "certificate": certificate.text,
    }
    if certificate.private:
        said |= {"epsilon": certificate.epsilon, "delta": certificate.delta}
    return said


def to_arviz(fit: Fit) -> Any:
    """A DataTree for ArviZ 1.x, InferenceData for 0.2x."""
    import arviz
    import xarray

    found, levels = groups(fit)
    said = attributes(fit)
    datasets: dict[str, Any] = {}
    for group, variables in found.items():
        data = {name: (("chain", "draw", *dims), values) for name, (dims, values) in variables.items()}
        used = {dimension: levels[dimension] for dims, _ in variables.values() for dimension in dims}
        chains, draws = next(iter(variables.values()))[1].shape[:2]
        coords = {"chain": range(chains), "draw": range(draws), **used}
        datasets[group] = xarray.Dataset(data, coords={key: list(value) for key, value in coords.items()}, attrs=said)
    if int(arviz.__version__.split(".")[0]) < 1:
        return arviz.InferenceData(attrs=said, **datasets)
    return xarray.DataTree.from_dict({"/": xarray.Dataset(attrs=said), **{f"/{group}": data for group, data in datasets.items()}})


def save_zarr(fit: Fit, path: str) -> str:
    """Writes the groups as Zarr, version 3, which ``az.from_zarr`` of ArviZ 1.x opens."""
    import numpy as np

    try:
        os.makedirs(path, exist_ok=False)
    except FileExistsError:
        raise FileError(f"{path} exists; name a new folder, so that no earlier result is lost") from None
    found, levels = groups(fit)
    said = attributes(fit)
    metadata: dict[str, Any] = {}

    def array(place: str, values: Any, dims: list[str]) -> None:
        fill: Any
        codec: dict[str, Any]
        if isinstance(values, list):
            encoded = [each.encode() for each in values]
            content = np.uint32(len(encoded)).astype("<u4").tobytes()
            content += b"".join(np.uint32(len(each)).astype("<u4").tobytes() + each for each in encoded)
            shape, kind, fill, codec = [len(values)], "string", "", {"name": "vlen-utf8", "configuration": {}}
        else:
            values = np.ascontiguousarray(values)
            kind = {"f": "float64", "b": "bool", "i": "int64"}[values.dtype.kind]
            fill = {"f": "NaN", "b": False, "i": 0}[values.dtype.kind]
            content = values.astype("?" if kind == "bool" else f"<{values.dtype.kind}8").tobytes()
            shape, codec = list(values.shape), {"name": "bytes", "configuration": {"endian": "little"}}
        metadata[place] = {
            "zarr_format": 3,
            "node_type": "array",
            "shape": shape,
            "data_type": kind,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [max(length, 1) for length in shape]}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": fill,
            "codecs": [codec],
            "attributes": {},
            "dimension_names": dims,
        }
        if all(shape):
            chunk = os.path.join(path, *place.split("/"), "c", *("0" for _ in shape))
            os.makedirs(os.path.dirname(chunk), exist_ok=True)
            with open(chunk, "wb") as file:
                file.write(content)

    for group, variables in found.items():
        metadata[group] = {"zarr_format": 3, "node_type": "group", "attributes": said}
        chains, draws = next(iter(variables.values()))[1].shape[:2]
        array(f"{group}/chain", np.arange(chains), ["chain"])
        array(f"{group}/draw", np.arange(draws), ["draw"])
        for name, (dims, values) in variables.items():
            for dimension in dims:
                array(f"{group}/{dimension}", levels[dimension], [dimension])
            array(f"{group}/{name}", values, ["chain", "draw", *dims])
    for place, described in metadata.items():
        folder = os.path.join(path, *place.split("/"))
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "zarr.json"), "w", encoding="utf-8") as file:
            json.dump(described, file)
    root = {
        "zarr_format": 3,
        "node_type": "group",
        "attributes": said,
        "consolidated_metadata": {"kind": "inline", "must_understand": False, "metadata": metadata},
    }
    with open(os.path.join(path, "zarr.json"), "w", encoding="utf-8") as file:
        json.dump(root, file)
    return path
