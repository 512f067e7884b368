"""Explainers for any domain: by a trained model, or by a model that learns from the user's file alone."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from wakesleep.domains.contract import Dataset, Domain, Explainer, Explanation, Report, Standing, files_of, option
from wakesleep.errors import Refusal, require_at_least

if TYPE_CHECKING:
    from wakesleep.core.memory import Memory, Weighted
    from wakesleep.core.model import Model, Observations

SETTING_HELP = "A setting of the domain, as NAME=VALUE (see: wakesleep domains DOMAIN); repeatable."
LEARNED_MEMORY_SIZE, PROPOSALS, BATCH_SIZE = 20, 20, 20
REVISED_SHARE = 0.5
"""Share of proposals that change a program already found, where a domain knows how."""
REMEMBERED_PROGRAMS = 10


@dataclass(frozen=True)
class Options:
    """The options of a domain whose model learns from the file."""

    steps: int = option(10_000, "Steps of learning.")
    set: tuple[str, ...] = option((), SETTING_HELP)

    def __post_init__(self) -> None:
        """Refuses impossible values."""
        require_at_least("steps", self.steps, 1)


@dataclass(frozen=True)
class TrainedOptions:
    """The options of a trained model whose settings may be set for reading a file."""

    set: tuple[str, ...] = option((), SETTING_HELP)


@dataclass(frozen=True)
class NoOptions:
    """The options of the model that ships: none."""


class Trained(NamedTuple):
    """A model that can be asked, and its domain."""

    domain: Domain
    settings: dict[str, Any]
    model: "Model"
    train: "Observations | None" = None
    """What it was trained on, where that is at hand."""
    name: str = ""
    """What the user called it."""


def pairs(given: tuple[str, ...] | list[str]) -> dict[str, str]:
    """Returns NAME=VALUE words as a dictionary."""
    found = {}
    for word in given:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise Refusal(f"--set takes NAME=VALUE, but {word!r} was given.")
        found[name] = value
    return found


def never(path: Path) -> float:
    """Says that no file is surely of this domain."""
    return 0.0


def from_domain(domain: Domain) -> Explainer:
    """Returns the explainer of a domain: by the model that ships, if there is one, else by one that learns."""
    files = files_of(domain.picture is not None, domain.film is not None)
    if domain.shipped is not None:
        return by_model(lambda: shipped(domain), NoOptions, files=files)
    return from_scratch(lambda: domain, files=files)


def by_model(
    trained: Callable[[], Trained],
    options: type = TrainedOptions,
    *,
    files: dict[str, str],
    reads: Callable[[Path], float] = never,
    what: str = "",
) -> Explainer:
    """Returns the explainer of a trained model, which is loaded when it is first needed."""

    def read(path: str, options: Any) -> tuple[Trained, Dataset]:
        known = trained()
        domain = known.domain
        settings = known.settings | pairs(getattr(options, "set", ())) | {domain.data_setting: Path(path)}
        data = domain.load(domain.configure(settings))
        if known.train is not None and _shapes(known.train) != _shapes(data.train):
            raise Refusal(
                f"The observations of {path} have another shape than those of {known.name}: explain them from scratch "
                f"with: wakesleep explain {domain.name} {path}"
            )
        return known, data

    def explain(given: tuple[Trained, Dataset], options: Any, report: Report) -> Explanation:
        known, data = given
        return present(known.domain, known.model, data, search(known, data.train, report))

    return Explainer(options=options, reads=reads, read=read, explain=explain, files=files, what=what)


def from_scratch(
    domain: Callable[[], Domain],
    *,
    files: dict[str, str],
    reads: Callable[[Path], float] = never,
    what: str = "",
) -> Explainer:
    """Returns the explainer of a domain whose model learns from the user's file alone."""

    def read(path: str, options: Options) -> tuple[Any, Dataset]:
        settings = domain().configure(pairs(options.set) | {domain().data_setting: Path(path)})
        return settings, domain().load(settings)

    def explain(given: tuple[Any, Dataset], options: Options, report: Report) -> Explanation:
        settings, data = given
        model, weighted = learn(domain(), settings, data.train, options.steps, report)
        return present(domain(), model, data, weighted)

    return Explainer(options=Options, reads=reads, read=read, explain=explain, files=files, what=what)


def shipped(domain: Domain) -> Trained:
    """Returns the model that comes with the package."""
    return from_file(domain, None)


def from_file(domain: Domain, file: Path | None) -> Trained:
    """Returns the model in a file of weights, by default in the one that comes with the package."""
    from wakesleep.domains.shipped import load

    settings, model = load(domain, file)
    return Trained(domain, settings, model, None, str(file or domain.shipped))


def search(known: Trained, data: "Observations", report: Report = lambda _: None) -> "Weighted":
    """Returns weighted programs for new observations, found with the model fixed.

    The domain's own search finds them where it has one, else wake phases do.
    """
    import jax

    from wakesleep.core.compilation import keep_compiled, quick_jit
    from wakesleep.core.evaluate import remember
    from wakesleep.core.memory import posterior

    keep_compiled()
    explainer = known.domain.explainer
    if explainer is not None and explainer.propose is not None:
        found = _remembered(known.model, explainer.propose(known.model, data, report), data)
    else:
        found = remember(jax.random.key(0), known.model, data, REMEMBERED_PROGRAMS, revise=REVISED_SHARE)
    return quick_jit(posterior)(found)


def _remembered(model: "Model", programs: Any, data: "Observations") -> "Memory":
    """Returns a memory of the best of the programs, scored by the model as all others are."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    from wakesleep.core.memory import empty
    from wakesleep.core.model import Batch

    arrays, rest = eqx.partition(model, eqx.is_array)
    leaves, structure = jax.tree.flatten(rest)
    batch = Batch(jnp.arange(len(data)), data.x, data.c)
    one = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape[2:], a.dtype), programs)
    nothing = empty(one, len(data), REMEMBERED_PROGRAMS)
    return _merging()(arrays, nothing, programs, batch, (tuple(leaves), structure))


@cache
def _merging() -> Callable:
    """Returns the merge of programs into a memory, compiled without optimisation, since it runs once for a file."""
    import equinox as eqx
    import jax

    from wakesleep.core.compilation import quick_jit
    from wakesleep.core.wake import enter

    def merged(arrays: Any, found: Any, programs: Any, batch: Any, rest: tuple[tuple, Any]) -> Any:
        leaves, structure = rest
        model = eqx.combine(arrays, jax.tree.unflatten(structure, leaves))
        return enter(model, found, programs, batch, fixed=True)[0]

    return quick_jit(merged, static_argnums=4)


def learn(
    domain: Domain, settings: Any, data: "Observations", steps: int, report: Report
) -> tuple["Model", "Weighted"]:
    """Returns a model trained on the observations alone, and the programs that it remembers for them."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp
    import optax

    from wakesleep.core.algorithms import mws
    from wakesleep.core.fit import fit
    from wakesleep.core.keys import fused
    from wakesleep.core.model import Batch

    key_build, key_fit = jax.random.split(fused(jax.random.key(0)))
    algorithm = mws(optax.adam(1e-3), LEARNED_MEMORY_SIZE, PROPOSALS)
    state = algorithm.init(domain.build(key_build, settings, data), data)
    size = min(BATCH_SIZE, len(data))
    for state, info in fit(algorithm, state, data, key=key_fit, steps=steps, batch_size=size, consume=True):
        report(Standing(int(state.step), steps, f"bound {float(info.bound):.3f}"))
    batch = Batch(jnp.arange(len(data)), data.x, data.c)
    weighted = eqx.filter_jit(algorithm.posterior)(fused(jax.random.key(0)), state, batch)
    return state.model, weighted


def present(domain: Domain, model: "Model", data: Dataset, weighted: "Weighted") -> Explanation:
    """Returns the explanation by these programs, as arrays of NumPy."""
    import jax

    from wakesleep.domains.programs import Programs

    return Programs(domain, model.evaluator, data.train, jax.device_get(weighted), data.names, note=data.note)


def _shapes(data: "Observations") -> Any:
    import jax

    return jax.tree.map(lambda a: a.shape[1:], data)
