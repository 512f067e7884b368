"""The contract, checked on a few observations: `check` says in one sentence which part breaks it with which verb.

What can be seen from shapes is checked here, without computing anything; numbers are checked in `check_numbers`.
"""

import inspect
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np

from wakesleep.core.check_numbers import check_listed, check_numbers
from wakesleep.core.model import Evaluator, Model, Observations, Prior, Recognition
from wakesleep.errors import Refusal

MOST_OBSERVATIONS_CHECKED = 3
"""The most observations that are looked at."""
MESSAGE_CHARACTERS = 200
PART_KINDS = {"prior": Prior, "evaluator": Evaluator, "recognition": Recognition}
# What each verb is called with, by the names that the contract uses.
VERB_ARGUMENTS = {
    ("prior", "sample"): ("key", "c"),
    ("prior", "log_prob"): ("z", "c"),
    ("evaluator", "sample"): ("key", "z"),
    ("evaluator", "log_prob"): ("x", "z"),
    ("evaluator", "refine"): ("z", "x"),
    ("recognition", "encode"): ("x", "c"),
    ("recognition", "sample"): ("key", "h"),
    ("recognition", "log_prob"): ("z", "h"),
    ("recognition", "revise"): ("key", "z", "h"),
}


def check(model: Any, data: Any, programs: Any = None) -> None:
    """Draws, scores, encodes and differentiates each part on a few observations; refuses what breaks the contract.

    `programs`, leaves [p, ...], are all programs of a domain that can list them: the probabilities that prior and
    recognition give them must then sum to one. `init` of every algorithm calls this without them.
    """
    some = _check_host(model, data)
    _check_shapes(model, some)
    check_numbers(model, some)
    if programs is not None:
        check_listed(model, some, programs)


_seen: set[Any] = set()
OWN_MODULES = "wakesleep."


def check_new(model: Any, data: Any) -> None:
    """`check` for `init`: numbers once for each choice of classes, shapes once for each choice of shapes.

    Models of the same classes are started again and again, by seeds and settings, and need not be computed with each
    time. Parts that come with the package are held to the contract by its tests, and are not computed with here.
    """
    some = _check_host(model, data)
    classes = tuple(type(getattr(model, name)) for name in PART_KINDS)
    if all(c.__module__.startswith(OWN_MODULES) for c in classes):
        return
    arrays, structure = jax.tree.flatten((eqx.filter(model, eqx.is_array), some))
    shapes = (structure, tuple((a.shape, str(a.dtype)) for a in arrays))
    if shapes not in _seen:
        _check_shapes(model, some)
    if classes not in _seen:
        check_numbers(model, some)
    _seen.update((shapes, classes))


def _check_host(model: Any, data: Any) -> Observations:
    """Checks what needs no tracing; returns the few observations that the other checks look at."""
    _check_model(model)
    _check_data(data)
    for name in PART_KINDS:
        _check_parameters(name, getattr(model, name))
        _check_names(name, getattr(model, name))
    some: Observations = data[np.arange(min(MOST_OBSERVATIONS_CHECKED, len(data)))]
    return some


def is_concrete(*trees: Any) -> bool:
    """Whether all leaves are there to be computed with, rather than traced or known by their shapes alone."""
    leaves = jax.tree.leaves(trees)
    here = [not isinstance(a, jax.core.Tracer | jax.ShapeDtypeStruct) for a in leaves]
    return all(here) and all(a.is_fully_addressable for a in leaves if isinstance(a, jax.Array))


def _check_model(model: Any) -> None:
    """Refuses what is not a model, and parts in each other's places."""
    if isinstance(model, Observations):
        raise Refusal("The model and the data are swapped: call check(model, data).")
    if not isinstance(model, Model):
        raise Refusal(f"model must be a wakesleep.Model(prior, evaluator, recognition), but it is {_kind(model)}.")
    for name, kind in PART_KINDS.items():
        part = getattr(model, name)
        if not isinstance(part, kind):
            raise Refusal(f"The {name} of a Model must be a wakesleep.{kind.__name__}, but it is {_kind(part)}.")


def _check_data(data: Any) -> None:
    """Refuses data that are not observations with one leading axis."""
    if not isinstance(data, Observations):
        raise Refusal(f"data must be wakesleep.Observations(x, c), but it is {_kind(data)}.")
    for name, tree in (("x", data.x), ("c", data.c)):
        for leaf in jax.tree.leaves(tree):
            if not isinstance(leaf, jax.Array | np.ndarray) or leaf.ndim == 0:
                raise Refusal(f"{name} of the Observations must hold arrays with a leading axis, not {_kind(leaf)}.")
        lengths = {leaf.shape[0] for leaf in jax.tree.leaves(tree)}
        if len(lengths) > 1:
            raise Refusal(
                f"The arrays of {name} have the unequal lengths {sorted(lengths)[:5]}: observations of unequal size "
                f"must be padded and stacked to one array with a leading axis, one entry an observation."
            )
    counts = [jax.tree.leaves(tree)[0].shape[0] for tree in (data.x, data.c) if jax.tree.leaves(tree)]
    if not jax.tree.leaves(data.x) or counts[0] == 0:
        raise Refusal("x of the Observations is empty: there is nothing to learn from.")
    if len(set(counts)) > 1:
        raise Refusal(f"x has {counts[0]} observations, but c has {counts[1]}: give one condition for each.")


def _check_parameters(name: str, part: Any) -> None:
    """Refuses numbers of a part that would never be learned."""
    for path, leaf in jax.tree_util.tree_leaves_with_path(part):
        number = isinstance(leaf, float | complex)
        if number or (isinstance(leaf, np.ndarray) and np.issubdtype(leaf.dtype, np.inexact)):
            raise Refusal(
                f"{name}{jax.tree_util.keystr(path)} is {_kind(leaf)}, so it would never be learned: make it a "
                "jax.Array with jnp.asarray, or mark the field eqx.field(static=True)."
            )


def _check_names(name: str, part: Any) -> None:
    """Refuses a verb whose arguments, by their names, are in another order than it is called with."""
    for (owner, verb), wanted in VERB_ARGUMENTS.items():
        if owner != name:
            continue
        named = tuple(inspect.signature(getattr(part, verb)).parameters)
        if named != wanted and sorted(named) == sorted(wanted):
            raise Refusal(f"{name}.{verb} takes ({', '.join(named)}), but it is called with ({', '.join(wanted)}).")


def _check_shapes(model: Model, some: Observations) -> None:
    """Traces every verb for one observation and refuses results of a wrong structure."""
    x, c = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape[1:], a.dtype), (some.x, some.c))
    key = jax.random.key(0)
    z = _trace(model, "prior", "sample", key, c)
    h = _trace(model, "recognition", "encode", x, c)
    proposed = _trace(model, "recognition", "sample", key, h)
    _check_program("prior.sample", z)
    _check_program("recognition.sample", proposed)
    _check_same("recognition.sample proposes", proposed, "prior.sample draws", z)
    _check_score("prior.log_prob", _trace(model, "prior", "log_prob", z, c))
    _check_score("evaluator.log_prob", _trace(model, "evaluator", "log_prob", x, z))
    _check_score("recognition.log_prob", _trace(model, "recognition", "log_prob", z, h))
    _check_same("evaluator.sample draws", _trace(model, "evaluator", "sample", key, z), "the data hold", x, kinds=True)
    for part, verb, given in (
        ("evaluator", "refine", (z, x)),
        ("recognition", "revise", (key, z, h)),
        ("prior", "canonical", (z,)),
    ):
        _check_same(f"{part}.{verb} returns", _trace(model, part, verb, *given), "prior.sample draws", z)


def _trace(model: Model, part: str, verb: str, *given: Any) -> Any:
    """The shapes that a verb returns; a failure is told in a sentence that names part and verb."""
    call = getattr(getattr(model, part), verb)
    try:
        return eqx.filter_eval_shape(call, *given)
    except Refusal:
        raise
    except Exception as error:
        wanted = VERB_ARGUMENTS.get((part, verb), ("z",))
        if len(given) == 2 and not isinstance(given[0], jax.Array) and _works(call, *reversed(given)):
            hint = f"its arguments seem to be swapped, it is called as {verb}({', '.join(wanted)})"
        else:
            first = (str(error).strip().splitlines() or [""])[0][:MESSAGE_CHARACTERS]
            hint = f"{type(error).__name__}: {first}"
        raise Refusal(f"{part}.{verb} fails for one observation, {hint}.") from error


def _works(call: Callable, *given: Any) -> bool:
    """Whether a verb can be traced with these arguments."""
    try:
        eqx.filter_eval_shape(call, *given)
    except Exception:
        return False
    return True


def _check_program(verb: str, z: Any) -> None:
    """Refuses a program that no integers tell apart from others."""
    leaves = jax.tree.leaves(z)
    if any(not isinstance(a, jax.ShapeDtypeStruct) for a in leaves) or not leaves:
        raise Refusal(f"{verb} must return a program, a tree of arrays, but it returns {_kind(z)}.")
    if all(np.issubdtype(a.dtype, np.inexact) for a in leaves):
        raise Refusal(
            f"{verb} returns a program of {leaves[0].dtype} and without integer leaves: its tokens must be integers, "
            "which tell programs apart; floats are carried quantities."
        )


def _check_same(says: str, found: Any, other: str, wanted: Any, kinds: bool = False) -> None:
    """Refuses two trees of unequal structure, shapes or types (with `kinds`, only integers against floats)."""

    def describe(tree: Any) -> list[tuple]:
        if kinds:
            return [(a.shape, bool(np.issubdtype(a.dtype, np.inexact))) for a in jax.tree.leaves(tree)]
        return [(a.shape, a.dtype) for a in jax.tree.leaves(tree)]

    structures: list[Any] = [jax.tree.structure(found), jax.tree.structure(wanted)]
    if structures[0] != structures[1] or describe(found) != describe(wanted):
        raise Refusal(f"{says} {_shapes(found)}, but {other} {_shapes(wanted)}: they must be alike.")


def _check_score(verb: str, found: Any) -> None:
    """Refuses a score that is not one float."""
    if not isinstance(found, jax.ShapeDtypeStruct) or found.shape != () or not np.issubdtype(found.dtype, np.inexact):
        raise Refusal(f"{verb} must return one float, a log-probability, but it returns {_shapes(found)}.")


def _shapes(tree: Any) -> str:
    """A tree of shapes in a few words."""
    if not jax.tree.leaves(tree):
        return _kind(tree)
    short = [f"{a.dtype}{list(a.shape)}" if hasattr(a, "dtype") else _kind(a) for a in jax.tree.leaves(tree)]
    listed = ", ".join(short[:5]) + (", ..." if len(short) > 5 else "")
    return listed if len(short) == 1 else f"({listed})"


def _kind(value: Any) -> str:
    """The kind of a value in words."""
    if isinstance(value, np.ndarray):
        return f"a NumPy array {value.dtype}{list(value.shape)}"
    name = type(value).__name__
    return f"{'an' if name[:1] in 'AEIOaeio' else 'a'} {name}"
