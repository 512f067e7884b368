"""Expressions for a new series: a fresh memory filled from recognition and from the neighbours of what it holds.

The model stays fixed. Any program may enter the memory, whatever it was proposed by: its score alone decides.
"""

from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from wakesleep.core.keys import fused
from wakesleep.core.memory import Weighted
from wakesleep.core.model import Model, propose, refine, score
from wakesleep.domains.timeseries.expressions.neighbours import assemble, neighbours, new_term
from wakesleep.domains.timeseries.language import ALL_KERNELS, KERNEL_TOKENS, Kernel, program, terms_of
from wakesleep.domains.timeseries.likelihood import Series
from wakesleep.domains.timeseries.networks import frequencies, periodogram

SIMPLE_EXPRESSIONS = (
    "WN", "SE + WN", "RW", "RW + WN", "M12 + WN", "M32 + WN", "Lin + WN", "Lin + RW + WN", "Per + WN", "SE*Per + WN",
    "Lin + SE + WN", "SE + SE*Per + WN", "Lin + RW + SE*Per", "SE + Per + WN", "RW + Per + WN", "Lin + SE*Per + WN",
)  # fmt: skip
"""Expressions that every search begins with."""
MOST_PEAKS, MOST_TRIES = 4, 3


Name = tuple[int, ...]


class Effort(NamedTuple):
    """The size of the search for a series."""

    rounds: int = 12
    batch: int = 16
    """Programs fitted in a round; the first has the simple ones, the second those that recognition proposes."""
    memory_size: int = 24
    steps: int = 25
    """Iterations to a fit in each visit."""
    expanded: int = 3
    """The best programs whose neighbours are tried in a round."""

    @property
    def programs(self) -> int:
        """Returns how many programs are fitted."""
        return self.rounds * self.batch


SEARCH_EFFORTS = {"quick": Effort(rounds=6), "usual": Effort(), "thorough": Effort(rounds=40)}


class Found(NamedTuple):
    """A program with its fit, and log p(z, x)."""

    z: Kernel
    log_joint: float


@eqx.filter_jit
def fit(model: Model, z: Kernel, x: Series) -> tuple[Kernel, Float[Array, "1 k"]]:
    """Fits programs of one series, and returns them with their scores."""
    z = refine(model.evaluator, z, x)
    return z, score(model, z, x, None)


@eqx.filter_jit
def _propose(key: Key[Array, ""], model: Model, x: Series, count: int) -> Kernel:
    h = jax.vmap(model.recognition.encode)(x, None)
    return propose(model.recognition, key, h, count)


def peaks(x: Series) -> list[float]:
    """Returns log-periods at which the periodogram is higher than beside them, the highest first."""
    power = np.asarray(jax.jit(periodogram)(x))
    inner = np.flatnonzero((power[1:-1] >= power[:-2]) & (power[1:-1] > power[2:])) + 1
    best = inner[np.argsort(-power[inner])][:MOST_PEAKS]
    found = [-float(np.log(frequencies()[i])) for i in best]
    return found or [-1.0]


def search(
    key: Key[Array, ""], model: Model, x: Series, effort: Effort, report: Callable[[int], None] = lambda done: None
) -> list[Found]:
    """Searches programs for a series, and returns the best, in order."""
    scaled, length = model.prior.scaled, model.prior.tokens.length  # type: ignore[attr-defined]
    allowed = _allowed(model)
    batch = jax.tree.map(lambda a: jnp.asarray(a)[None], x)
    periods = cycle(peaks(x))
    memory: dict[Name, Found] = {}
    tried: dict[Name, set[Name]] = {}
    queue: list[Kernel] = _simple(allowed, length, scaled, periods)
    for done in range(effort.rounds):
        if done == 1:
            drawn = _propose(fused(key), model, batch, effort.batch)
            queue = _each(jax.tree.map(lambda a: a[0], drawn)) + queue
        if done > 1 or not queue:
            queue += _next(memory, tried, effort, lambda z: neighbours(z, allowed, length, scaled, periods))
        chosen, queue = _chosen(queue, effort.batch), queue[effort.batch :] if done < 1 else []
        # What began far from any fit may be tried again from a fitted neighbour, and from a better one.
        for z in chosen if done > 1 else ():
            tried.setdefault(_name(z), set()).add(_name(_best(memory)[0].z))
        _remember(memory, chosen, *fit(model, _stack(chosen, effort.batch), batch), effort.memory_size)
        report(done + 1)
    return _best(memory)


def _best(memory: dict[Name, Found]) -> list[Found]:
    """Returns the remembered programs, the best first."""
    return sorted(memory.values(), key=lambda f: -f.log_joint)


def best_fits(model: Model, x: Series, begun: list[Kernel], visits: int) -> list[Found]:
    """Fits programs in several visits, and returns each once with its best fit, the best first."""
    batch = jax.tree.map(lambda a: jnp.asarray(a)[None], x)
    z = _stack(begun, len(begun))
    for _ in range(visits):
        z, log_joint = fit(model, z, batch)
    memory: dict[Name, Found] = {}
    _remember(memory, begun, z, log_joint, len(begun))
    return _best(memory)


def posterior(found: list[Found]) -> Float[np.ndarray, "k"]:
    """Returns the weights of programs, in proportion to p(z, x)."""
    log_joint = np.array([f.log_joint for f in found])
    weight = np.exp(log_joint - log_joint.max())
    return weight / weight.sum()


def _allowed(model: Model) -> tuple[int, ...]:
    """Returns the kernels that the grammar lets an expression begin with."""
    rules = model.prior.tokens.rules  # type: ignore[attr-defined]
    begins = rules.need[rules.after[0]] < 10_000
    return tuple(KERNEL_TOKENS[name] for name in ALL_KERNELS.split() if begins[KERNEL_TOKENS[name]])


def _simple(allowed: tuple[int, ...], length: int, scaled: bool, periods: Iterator[float]) -> list[Kernel]:
    """Returns the simple expressions that the language has."""
    made = []
    for text in SIMPLE_EXPRESSIONS:
        terms = terms_of(program(text, len(SIMPLE_EXPRESSIONS), scaled).tolist())
        if all(f in allowed for term in terms for f in term):
            z = assemble([new_term(term, scaled, periods) for term in terms], length, scaled)
            made += [z] if z is not None else []
    return made


def _next(
    memory: dict[Name, Found],
    tried: dict[Name, set[Name]],
    effort: Effort,
    around: Callable[[Kernel], Iterator[Kernel]],
) -> list[Kernel]:
    """Returns the untried neighbours of the best programs, and those programs again, to fit them further.

    Those of the very best count as untried until they were tried while it was the best: they begin with its fit.
    """
    best = _best(memory)
    first = _name(best[0].z)
    for width in range(effort.expanded, len(best) + effort.expanded, effort.expanded):
        near = [[z for z in around(f.z) if _name(z) not in tried] for f in best[1:width]]
        nearest = [z for z in around(best[0].z) if first not in tried.get(_name(z), ())]
        fresh = [z for group in zip_all([nearest, *near]) for z in group]
        if fresh:
            return [f.z for f in best[:2]] + fresh
    # Everything near is tried: fits from other periods.
    return [z for f in best for z in islice(around(f.z), 6) if len(tried.get(_name(z), ())) < MOST_TRIES] or [best[0].z]


def zip_all(groups: list[list[Any]]) -> Iterator[list[Any]]:
    """Yields the first of each group, then the second of each, to the end of the longest."""
    for i in range(max(map(len, groups), default=0)):
        yield [g[i] for g in groups if i < len(g)]


def _chosen(queue: list[Kernel], size: int) -> list[Kernel]:
    """Returns the first of the queue, every program once."""
    chosen: dict[Name, Kernel] = {}
    for z in queue:
        if len(chosen) < size and _name(z) not in chosen:
            chosen[_name(z)] = z
    return list(chosen.values())


def _remember(memory: dict, chosen: list[Kernel], z: Kernel, log_joint: Array, size: int) -> None:
    """Puts fitted programs into the memory, which keeps the better of twins and the best `size` of all."""
    z, scores = jax.tree.map(lambda a: np.asarray(a)[0], (z, log_joint))
    for i in range(len(chosen)):
        one = jax.tree.map(lambda a, i=i: a[i], z)
        if np.isfinite(scores[i]) and (_name(one) not in memory or memory[_name(one)].log_joint < scores[i]):
            memory[_name(one)] = Found(one, float(scores[i]))
    for name in sorted(memory, key=lambda name: -memory[name].log_joint)[size:]:
        del memory[name]


def _stack(programs: list[Kernel], size: int) -> Kernel:
    """Returns programs as one batch of one series, filled up with the first."""
    filled = programs + [programs[0]] * (size - len(programs))
    return jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(a) for a in leaves])[None], *filled)


def _each(batch: Kernel) -> list[Kernel]:
    count = batch.tokens.shape[0]
    return [jax.tree.map(lambda a, i=i: np.asarray(a[i]), batch) for i in range(count)]


def _name(z: Kernel) -> Name:
    return tuple(np.asarray(z.tokens).tolist())


def weighted(found: list[Found]) -> Weighted:
    """Returns the found programs as a weighted posterior of the core."""
    programs = jax.tree.map(lambda *a: jnp.stack([jnp.asarray(v) for v in a]), *[f.z for f in found])
    return Weighted(programs, jnp.log(jnp.asarray(posterior(found), jnp.float32)))
