"""What is asked of trained models: an explainer, the programs of training observations, new observations."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from wakesleep import domains
from wakesleep.core.keys import fused
from wakesleep.core.memory import Weighted
from wakesleep.core.model import Observations, dream
from wakesleep.domains import learned
from wakesleep.domains.contract import Explainer, files_of
from wakesleep.domains.learned import Trained
from wakesleep.domains.programs import Programs, Samples
from wakesleep.domains.shipped import read_notes
from wakesleep.errors import Refusal, require_at_least
from wakesleep.running.evaluate import load_run
from wakesleep.running.programs import posterior as remembered

OBSERVATIONS_SHOWN = 10


def trained(target: str) -> Trained:
    """Returns the model of a run directory, of a file of weights, or the one that ships for a domain."""
    path = Path(target)
    if (path / "config.json").is_file():
        job, state = load_run(path)
        return Trained(job.domain, job.config.settings, state.model, job.dataset.train, target)
    if path.suffix == ".safetensors":
        reference = read_notes(path).get("domain")
        if not isinstance(reference, str):
            raise Refusal(f"{path} does not say of which domain it is: make it anew with `wakesleep ship`.")
        return learned.from_file(domains.domain(reference, given=False), path)
    if not domains.is_reference(target):
        raise Refusal(
            f"{target!r} is neither a domain ({', '.join(domains.known())}), nor a run directory, nor a file of "
            "weights."
        )
    return learned.shipped(domains.domain(target))


def explainer(target: str) -> Explainer:
    """Returns the explainer of a run directory or of a file of weights."""
    known = trained(target)
    files = files_of(known.domain.picture is not None, known.domain.film is not None)
    return learned.by_model(lambda: known, files=files)


def posterior(path: Path, rows: list[int] | None) -> Programs:
    """Returns the programs found for training observations; the first ten by default."""
    job, state = load_run(path)
    n = len(job.dataset.train)
    rows = rows or list(range(min(n, OBSERVATIONS_SHOWN)))
    for row in rows:
        if not 0 <= row < n:
            raise Refusal(f"There is no observation {row}: the run has observations 0 to {n - 1}.")
    weighted = jax.device_get(remembered(job, state, rows))
    names = [job.dataset.names[r] for r in rows]
    some = job.dataset.train[jnp.asarray(rows)]
    return Programs(job.domain, state.model.evaluator, some, weighted, names)


def sample(target: str, count: int, seed: int, condition: int | None) -> Samples:
    """Returns programs drawn from the prior, each with an observation drawn from it."""
    require_at_least("count", count, 1)
    known = trained(target)
    c = _conditions(known, count, condition)
    z, x = jax.device_get(dream(known.model, fused(jax.random.key(seed)), c, count))
    weighted = Weighted(jax.tree.map(lambda a: a[:, None], z), jnp.zeros((count, 1)))
    names = [f"sample {i + 1}" for i in range(count)]
    return Samples(known.domain, known.model.evaluator, Observations(x), weighted, names, most_drawn=1)


def _conditions(known: Trained, count: int, condition: int | None) -> Any:
    """Returns what the samples are conditioned on: the number given, or those of the training observations in turn."""
    if known.train is None or known.train.c is None:
        if condition is not None:
            raise Refusal("The model is not conditioned on anything, so --condition cannot be given.")
        return None
    if condition is not None and not 0 <= condition <= (most := int(jnp.max(known.train.c))):
        raise Refusal(f"--condition must lie between 0 and {most}, but {condition} was given.")
    turn = known.train.c[jnp.arange(count) % known.train.c.shape[0]]
    return turn if condition is None else jnp.full(count, condition, turn.dtype)
