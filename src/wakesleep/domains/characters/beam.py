"""A search for programs of the bank: a beam draws stroke after stroke, then the best are edited until none gains.

Every program is judged by the model's own log p(z, x | c). Recognition takes no part, so what the search finds does not
depend on how well recognition was trained.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from wakesleep.core.model import Model, Observations
from wakesleep.core.networks import END
from wakesleep.domains.characters.evaluator import Renderer
from wakesleep.domains.characters.language import rules
from wakesleep.domains.characters.networks import StrokePrior
from wakesleep.domains.contract import Report, Standing

SCORED_AT_ONCE = 1024
LEAST_BEAM_LEVELS = 2
"""Strokes that the beam draws in any case: one alone may be worse than a blank program."""
Programs = Int[np.ndarray, "k t"]
Drawing = Int[Array | np.ndarray, "y x"]


class Effort(NamedTuple):
    """How much is searched."""

    width: int = 192
    """Programs that the beam keeps after each stroke."""
    edited: int = 8
    """The best programs, of which all single edits are tried, again and again."""
    kept: int = 10
    """The best programs that are returned."""


USUAL_EFFORT = Effort()


def propose(model: Model, data: Observations, report: Report = lambda _: None) -> Int[np.ndarray, "n k t"]:
    """Returns the best programs that are found for each drawing; where there are too few, blank ones."""
    found, (drawings, conditions) = [], jax.device_get((data.x, data.c))
    for i, x in enumerate(drawings):
        best = search(model, x, None if conditions is None else conditions[i])
        found.append(np.pad(best, ((0, USUAL_EFFORT.kept - len(best)), (0, 0))))
        report(Standing(i + 1, len(data)))
    return np.stack(found)


def search(model: Model, x: Drawing, c: Any = None, effort: Effort = USUAL_EFFORT) -> Programs:
    """Returns the best programs that are found for a drawing, the best first."""
    scores = Scores(model, x, c)
    beam(scores, effort.width)
    edited: set[bytes] = set()
    while new := [z for z in scores.best(effort.edited) if z.tobytes() not in edited]:
        edited |= {z.tobytes() for z in new}
        scores(np.concatenate([edits(z, scores.strokes) for z in new]))
    return scores.best(effort.kept)


class Scores:
    """log p(z, x | c) of programs for one drawing; it remembers all that it was asked for."""

    strokes: int
    """The size of the bank."""
    length: int
    """The most tokens of a program."""

    def __init__(self, model: Model, x: Drawing, c: Any):
        assert isinstance(model.evaluator, Renderer)
        assert isinstance(model.prior, StrokePrior)
        self.strokes, self.length = model.evaluator.angle.shape[0], model.prior.length
        self._fixed = (model.prior, model.evaluator), x, c
        self._known: dict[bytes, float] = {}
        self(np.zeros((1, self.length), np.int32))

    def __call__(self, programs: Programs) -> Float[np.ndarray, "k"]:
        """Returns the scores of the programs; those that are not known are computed in blocks."""
        spelled = [z.tobytes() for z in programs]
        new = [z for z in dict.fromkeys(spelled) if z not in self._known]
        for start in range(0, len(new), SCORED_AT_ONCE):
            block = new[start : start + SCORED_AT_ONCE]
            z = np.zeros((SCORED_AT_ONCE, self.length), np.int32)
            z[: len(block)] = self._read(block)
            self._known.update(zip(block, np.asarray(log_joints(self._fixed, z)).tolist(), strict=False))
        return np.array([self._known[z] for z in spelled])

    def best(self, count: int) -> Programs:
        """Returns the best programs so far, the best first; impossible ones are left out."""
        order = sorted(self._known, key=self._known.__getitem__, reverse=True)[:count]
        return self._read([z for z in order if self._known[z] > -np.inf])

    def _read(self, spelled: list[bytes]) -> Programs:
        return np.frombuffer(b"".join(spelled), np.int32).reshape(-1, self.length)


@eqx.filter_jit
def log_joints(fixed: Any, programs: Int[Array | np.ndarray, "k t"]) -> Float[Array, "k"]:
    """Returns log p(z, x | c) of some programs for one drawing; `fixed` is ((prior, evaluator), x, c)."""
    (prior, evaluator), x, c = fixed
    return jax.vmap(lambda z: prior.log_prob(z, c) + evaluator.log_prob(x, z))(programs)


def beam(scores: Scores, width: int) -> None:
    """Scores the best programs with one more drawn stroke, as long as this gains; no stroke is drawn in the air."""
    front, best = np.zeros((1, scores.length), np.int32), -np.inf
    for level in range(scores.length):
        longer = np.repeat(front, scores.strokes, axis=0)
        longer[:, level] = np.tile(np.arange(1, scores.strokes + 1), len(front))
        found = scores(longer)
        if found.max() <= best and level >= LEAST_BEAM_LEVELS:
            return
        best = max(best, found.max())
        front = longer[np.argsort(-found, kind="stable")[:width]]


def edits(z: Int[np.ndarray, "t"], strokes: int) -> Programs:
    """Returns all programs with one token of z replaced, inserted or left out, each once.

    To replace a stroke by itself in the air, or on paper, is one of them.
    """
    used, tokens = int(np.sum(z != END)), np.arange(1, 2 * strokes + 1, dtype=z.dtype)
    found = [np.append(np.delete(z, i), z.dtype.type(END))[None] for i in range(used)]
    for i in range(used):
        found.append(_with(z, i, tokens))
    for i in range(used + 1 if used < len(z) else 0):
        found.append(_with(np.insert(z, i, END)[: len(z)], i, tokens))
    several = np.unique(np.concatenate(found), axis=0)
    return several[legal(several, strokes) & np.any(several != z, axis=1)]


def _with(z: Int[np.ndarray, "t"], place: int, tokens: Int[np.ndarray, "v"]) -> Programs:
    """Returns z with each of the tokens at a place."""
    several = np.repeat(z[None], len(tokens), axis=0)
    several[:, place] = tokens
    return several


def legal(programs: Programs, strokes: int) -> Bool[np.ndarray, "k"]:
    """Returns which programs the grammar allows."""
    grammar = rules(strokes)
    state = np.zeros(len(programs), int)
    for tokens in programs.T:
        state = grammar.after[state, grammar.kind[tokens]]
    return grammar.need[state] == 0
