"""Observations of a domain as arrays by name, and back."""

from typing import Any

import jax
import numpy as np

from wakesleep.core.model import Observations
from wakesleep.domains.contract import Domain
from wakesleep.errors import Refusal


def arrays_of(data: Observations, domain: Domain) -> dict[str, np.ndarray]:
    """The arrays of observations by the names of their fields, such as x.image, from which `assemble` makes them."""
    leaves = jax.tree_util.tree_leaves_with_path(data)
    found = {jax.tree_util.keystr(path).strip("."): np.asarray(leaf) for path, leaf in leaves}
    structure: Any = jax.tree.structure(data)
    if structure != jax.tree.structure(assemble(found, domain)):
        raise Refusal(
            f"Observations of {domain.name} cannot be stored: its Domain must name the type of x, a named tuple of "
            "arrays (observation=...)."
        )
    return found


def assemble(arrays: dict[str, Any], domain: Domain) -> Observations | None:
    """Observations from arrays by the names of their fields, or None where these are not a domain's."""
    names = [f"x.{field}" for field in domain.observation._fields] if domain.observation is not None else ["x"]
    if not set(arrays) <= {*names, "c"} or not set(arrays) & set(names):
        return None
    parts = [arrays.get(name) for name in names]
    return Observations(domain.observation(*parts) if domain.observation is not None else parts[0], arrays.get("c"))
