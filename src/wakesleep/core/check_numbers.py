"""The numbers of the contract, checked: scores and gradients, draws against scores, carried quantities, spellings."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import checkify
from jaxtyping import Array

from wakesleep.core.compilation import quick_jit
from wakesleep.core.keys import fused
from wakesleep.core.model import Evaluator, Model, Observations, Prior, Program, carries, fills, frozen
from wakesleep.errors import Refusal

DRAWS_COMPARED = 64
"""Programs that are drawn twice for each observation, to compare draws with scores."""
PROGRAMS_SCORED = 2
"""Programs of each source that are scored, differentiated and refined for each observation."""
MOST_STANDARD_ERRORS = 6.0
TOLERANCE = 1e-3


class Numbers(NamedTuple):
    """What is computed for each observation: d draws of prior and of recognition, and k programs, a few of each."""

    drawn: dict[str, Program]
    """For prior and recognition, d programs."""
    own: dict[str, Array]
    """For prior and recognition, the scores [d] that each gives its own draws."""
    few: Program
    scores: dict[str, Array]
    """The scores [k] of the few programs by each part."""
    variants: dict[str, tuple[Program, dict[str, Array]]]
    """The few programs with carried quantities changed, refined, in canonical form; and their scores by each part."""
    twice: Program
    """The canonical forms of the canonical forms."""


def check_numbers(model: Model, some: Observations) -> None:
    """Refuses a model whose numbers break the contract on these observations."""
    found, gradient = _compute(model, some)
    _check_scores(found)
    _check_gradients(gradient)
    _check_tables(model, some, found)
    for part in ("prior", "recognition"):
        if "redrawn" not in found.variants or _scores_tokens_alone(found, "redrawn", part):
            _check_draws(part, found)  # a density of floats cannot be compared with shares of draws
    checks = {
        "refined": _check_refined,
        "changed": _check_carried,
        "redrawn": _check_drawn,
        "canonical": _check_canonical,
    }
    for name, verify in checks.items():
        if name in found.variants:
            verify(found)


def check_listed(model: Model, some: Observations, programs: Program) -> None:
    """Refuses a prior or a recognition whose probabilities of all programs do not sum to one."""

    @eqx.filter_jit
    def totals(model: Model, one: Observations) -> tuple[Array, Array]:
        h = model.recognition.encode(one.x, one.c)
        return (
            jax.nn.logsumexp(jax.vmap(lambda z: model.prior.log_prob(z, one.c))(programs)),
            jax.nn.logsumexp(jax.vmap(lambda z: model.recognition.log_prob(z, h))(programs)),
        )

    for row in range(len(some)):
        for part, total in zip(("prior", "recognition"), totals(model, some[row]), strict=True):
            if not abs(float(jnp.exp(total)) - 1) < TOLERANCE:
                raise Refusal(
                    f"The probabilities of all programs by {part}.log_prob sum to {jnp.exp(total):.4g}, not 1."
                )


def _compute(model: Model, some: Observations) -> tuple[Numbers, np.ndarray]:
    """Everything that is checked, in one compiled call: the numbers, and which parts have bad gradients."""
    arrays, static = eqx.partition(model, eqx.is_array)
    leaves, structure = jax.tree.flatten(static)
    return jax.tree.map(np.asarray, _compiled()((tuple(leaves), structure), arrays, jax.random.key(0), some))


@cache
def _compiled() -> Callable:
    """Returns the jitted `_numbers`, one for all models."""
    return quick_jit(_numbers, static_argnums=0)


def _numbers(static: tuple, arrays: Model, key: Array, some: Observations) -> tuple[Numbers, Array]:
    """What `_compute` returns; the model comes in two halves."""
    model = eqx.combine(arrays, jax.tree.unflatten(static[1], static[0]))

    def total(model: Model) -> tuple[Array, Numbers]:
        keys = jax.random.split(fused(key), len(some))
        found = jax.vmap(lambda k, one: _observe(model, k, one))(keys, some)
        scores = jax.tree.leaves((found.own, found.scores))
        return sum((jnp.sum(jnp.where(jnp.isfinite(s), s, 0.0)) for s in scores), start=jnp.zeros(())), found

    gradient, found = eqx.filter_grad(total, has_aux=True)(model)
    parts = (gradient.prior, gradient.evaluator, gradient.recognition)
    bad = [jnp.any(jnp.asarray([~jnp.all(jnp.isfinite(a)) for a in jax.tree.leaves(p)] or [False])) for p in parts]
    return found, jnp.stack(bad)


def _observe(model: Model, key: Array, one: Observations) -> Numbers:
    """The numbers of one observation; each verb is called once, for all programs together, to keep this quick."""
    fixed = frozen(model)
    h = model.recognition.encode(one.x, one.c)
    keys = jax.random.split(key, (2, 2 * DRAWS_COMPARED))
    drawn = frozen(
        {
            "prior": jax.vmap(lambda k: fixed.prior.sample(k, one.c))(keys[0]),
            "recognition": jax.vmap(lambda k: fixed.recognition.sample(k, frozen(h)))(keys[1]),
        }
    )
    few = jax.tree.map(
        lambda a, b: jnp.concatenate([a[:PROGRAMS_SCORED], b[:PROGRAMS_SCORED]]), drawn["prior"], drawn["recognition"]
    )
    variants = frozen(_variants(fixed, few, one))
    groups = {"few": few, **variants}
    pool = jax.tree.map(lambda *a: jnp.concatenate(a), *groups.values())
    join = lambda z: jax.tree.map(lambda a, b: jnp.concatenate([a, b]), pool, z)  # noqa: E731
    scores = {
        "prior": jax.vmap(lambda z: model.prior.log_prob(z, one.c))(join(drawn["prior"])),
        "evaluator": jax.vmap(lambda z: model.evaluator.log_prob(one.x, z))(pool),
        "recognition": jax.vmap(lambda z: model.recognition.log_prob(z, h))(join(drawn["recognition"])),
    }
    k = 2 * PROGRAMS_SCORED
    split = [{n: s[i * k : (i + 1) * k] for n, s in scores.items()} for i in range(len(groups))]
    own = {n: scores[n][len(groups) * k :] for n in drawn}
    named = {n: (z, s) for (n, z), s in zip(variants.items(), split[1:], strict=True)}
    twice = jax.vmap(fixed.prior.canonical)(variants["canonical"]) if "canonical" in variants else few
    return Numbers(drawn, own, few, split[0], named, twice)


def _variants(model: Model, few: Program, one: Observations) -> dict[str, Program]:
    """The few programs in all forms that a domain makes of them."""
    found = {}
    if carries(few):
        name = "redrawn" if fills(model.recognition) else "changed"
        found[name] = jax.tree.map(lambda a: a * 1.1 + 0.1 if jnp.issubdtype(a.dtype, jnp.inexact) else a, few)
    if type(model.evaluator).refine is not Evaluator.refine:
        found["refined"] = jax.vmap(lambda z: model.evaluator.refine(z, one.x))(few)
    if type(model.prior).canonical is not Prior.canonical:
        found["canonical"] = jax.vmap(model.prior.canonical)(few)
    return found


def _check_scores(found: Numbers) -> None:
    """Refuses scores that are NaN or plus infinity, and programs that the part that draws them cannot score."""
    for part, score in found.scores.items():
        if np.isnan(score).any():
            raise Refusal(f"{part}.log_prob gives NaN: what cannot occur scores minus infinity.")
        if np.isposinf(score).any():
            raise Refusal(f"{part}.log_prob gives plus infinity.")
    for part, score in found.own.items():
        if not np.isfinite(score).all():
            raise Refusal(
                f"{part}.sample draws a program to which {part}.log_prob gives {score[~np.isfinite(score)][0]}: its "
                "tokens are outside of the grammar that log_prob knows."
            )


def _check_gradients(bad: np.ndarray) -> None:
    """Refuses a gradient that is not finite."""
    for part, broken in zip(("prior", "evaluator", "recognition"), bad, strict=True):
        if broken:
            raise Refusal(
                f"{part}.log_prob has a gradient that is NaN or infinite: guard what is impossible with `where` both "
                "inside and outside."
            )


def _check_tables(model: Model, some: Observations, found: Numbers) -> None:
    """Refuses a part that looks up a token outside of its tables, where JAX takes the last entry in silence.

    Only where prior and recognition draw different ranges of tokens is this looked for, with the greatest token drawn.
    """
    tokens = {name: _tokens(z) for name, z in found.drawn.items()}
    name = max(tokens, key=lambda n: int(tokens[n].max()))
    if len({int(t.max()) for t in tokens.values()}) == 1:
        return
    row, at, _ = np.unravel_index(np.argmax(tokens[name]), tokens[name].shape)
    z = jax.tree.map(lambda a: a[row, at], found.drawn[name])
    others = {part: score for part, score in _scorers(model, some[int(row)]).items() if part != name}
    for part, outside in _look_outside(others, z).items():
        if outside:
            raise Refusal(
                f"{part}.log_prob looks up a token of {name}.sample that its tables do not have (JAX takes the last "
                "entry instead): all parts must know the same tokens."
            )


def _scorers(model: Model, one: Observations) -> dict[str, Callable[[Any], Array]]:
    """For each part a function that scores one program of one observation."""
    return {
        "prior": lambda z: model.prior.log_prob(z, one.c),
        "evaluator": lambda z: model.evaluator.log_prob(one.x, z),
        "recognition": lambda z: model.recognition.log_prob(z, model.recognition.encode(one.x, one.c)),
    }


def _look_outside(scores: dict[str, Callable[[Any], Array]], z: Any) -> dict[str, bool]:
    """Returns whether each score indexes an array out of its bounds, for scores that JAX's own check can follow."""

    def errors(z: Any) -> dict[str, Any]:
        found = {}
        for part, score in scores.items():
            with suppress(Exception):  # checkify knows not all that JAX can do
                found[part] = checkify.checkify(score, errors=checkify.index_checks)(z)[0]
        return found

    return {part: error.get() is not None for part, error in quick_jit(errors)(z).items()}


def _check_draws(part: str, found: Numbers) -> None:
    """Refuses a part whose draws do not follow its scores.

    Whatever programs D are drawn first, they hold the probability S = sum over D of exp(log_prob) <= 1, and a share S
    of all later draws must be among them.
    """
    tokens = _tokens(found.drawn[part])
    first, second = tokens[:, :DRAWS_COMPARED], tokens[:, DRAWS_COMPARED:]
    totals, shares = [], []
    for row in range(len(tokens)):
        known = {z.tobytes(): float(np.exp(p)) for z, p in zip(first[row], found.own[part][row], strict=False)}
        totals.append(sum(known.values()))
        shares.append(np.mean([z.tobytes() in known for z in second[row]]))
    if max(totals) > 1 + TOLERANCE:
        raise Refusal(f"The probabilities of some programs by {part}.log_prob sum to {max(totals):.4g}, more than 1.")
    total, share = float(np.mean(totals)), float(np.mean(shares))
    error = np.sqrt(sum(max(t * (1 - t), 1 / DRAWS_COMPARED) for t in totals) / DRAWS_COMPARED) / len(totals)
    if abs(share - total) > MOST_STANDARD_ERRORS * error:
        raise Refusal(
            f"{part}.sample and {part}.log_prob disagree: programs whose probabilities sum to {total:.3f} make up "
            f"{share:.3f} of the draws."
        )


def _check_refined(found: Numbers) -> None:
    """Refuses a refinement that changes the program, or that worsens scores and improves none."""
    refined, scores = found.variants["refined"]
    if not np.array_equal(_tokens(refined), _tokens(found.few)):
        raise Refusal("evaluator.refine changes the integer leaves of a program: it may change carried floats alone.")
    before, after = found.scores["evaluator"], scores["evaluator"]
    with np.errstate(invalid="ignore"):
        gain = np.where(after == before, 0.0, after - before)
    slack = TOLERANCE * (1 + np.abs(np.where(np.isfinite(after), after, 0.0)))
    if np.isnan(gain).any() or ((gain <= slack).all() and (gain < -slack).any()):
        raise Refusal("evaluator.refine makes scores worse and none better: it must fit carried floats to x.")


def _check_carried(found: Numbers) -> None:
    """Refuses a prior or a recognition whose score depends on carried quantities.

    Only then is the sum over a memory's programs a sum over different events, and a lower bound on p(x).
    """
    for part in ("prior", "recognition"):
        if not _scores_tokens_alone(found, "changed", part):
            raise Refusal(f"{part}.log_prob depends on the floats that a program carries: it must score tokens alone.")


def _check_drawn(found: Numbers) -> None:
    """Refuses a recognition whose `log_prob` depends on floats that it draws.

    The prior may score them: p(floats | tokens) is a part of p(z), or of the evaluator.
    """
    if not _scores_tokens_alone(found, "redrawn", "recognition"):
        raise Refusal("recognition.log_prob depends on the floats that `fill` draws: their density is `log_fill`.")


def _scores_tokens_alone(found: Numbers, variant: str, part: str) -> bool:
    """Whether the scores of a part are the same for the programs and for their variant with other floats."""
    return np.allclose(found.variants[variant][1][part], found.scores[part], rtol=1e-4, atol=1e-4)


def _check_canonical(found: Numbers) -> None:
    """Refuses canonical forms that are not their own, that mean something else, or that are impossible."""
    once, scores = found.variants["canonical"]
    if not np.array_equal(_tokens(once), _tokens(found.twice)):
        raise Refusal("prior.canonical changes a program that is in canonical form already.")
    if not np.allclose(scores["evaluator"], found.scores["evaluator"], rtol=1e-3, atol=1e-3):
        raise Refusal(
            "prior.canonical changes what a program means: the evaluator scores its canonical form otherwise."
        )
    if (np.isneginf(scores["prior"]) & np.isfinite(found.scores["prior"])).any():
        raise Refusal("prior.canonical makes a program that prior.log_prob calls impossible.")


def _tokens(z: Any) -> np.ndarray:
    """The integer leaves of programs [n, k, ...] as one array [n, k, t]."""
    leaves = [np.asarray(a) for a in jax.tree.leaves(z) if not np.issubdtype(a.dtype, np.inexact)]
    return np.concatenate([a.reshape(*a.shape[:2], -1).astype(np.int64) for a in leaves], axis=2)
