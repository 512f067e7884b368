"""What determines a run: `Config`, with the default, help text and limits of every setting, and the algorithms by name.

The options of `wakesleep train` are made from these fields, so nothing here imports JAX before an algorithm is made.
A new option of an algorithm is an argument of its function in `core.algorithms` and a field of the same name here; a
new algorithm is a line of `ALGORITHMS`.
"""

from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

from wakesleep.errors import Refusal, require_at_least, require_one_of, require_share

if TYPE_CHECKING:
    import optax

    from wakesleep.core.algorithms import Algorithm

Check = Callable[[str, Any], None]
RATE_FALL = 100
"""What the learning rate is divided by when it has fallen."""


class Recipe(NamedTuple):
    """A function of `core.algorithms`, and the arguments that the name of the algorithm decides."""

    function: str
    fixed: dict[str, Any]


ALGORITHMS = {
    "mws": Recipe("mws", {}),
    "mws-fantasy": Recipe("mws", {"recognition": "fantasy"}),
    "mws-both": Recipe("mws", {"recognition": "both"}),
    "rws": Recipe("rws", {}),
    "rws-sleep": Recipe("rws", {"recognition": "sleep"}),
    "rws-both": Recipe("rws", {"recognition": "both"}),
    "vimco": Recipe("vimco", {}),
}


def setting(default: Any, told: str, check: Check | None = None) -> Any:
    """A field of `Config` that the command line offers: its default, its help text, and what refuses a bad value."""
    return field(default=default, metadata={"help": told, "check": check})


def at_least(least: int | float) -> Check:
    """A check that refuses smaller numbers."""
    return lambda name, value: require_at_least(name, value, least)


def one_of(*known: str) -> Check:
    """A check that refuses other words."""
    return lambda name, value: require_one_of(name, value, known)


def share(name: str, value: int | float | None) -> None:
    """Refuses what is neither None nor between 0 and 1."""
    if value is not None:
        require_share(name, value)


def positive(name: str, value: int | float) -> None:
    """Refuses numbers that are not above zero."""
    if not value > 0:
        raise Refusal(f"{name} must be positive, but {value} was given.")


@dataclass(frozen=True)
class Config:
    """All that determines a run."""

    domain: str
    """A name, `package.module:NAME`, or the absolute path of a file and a name in it, `/path/file.py:NAME`."""
    algorithm: str = setting("mws", f"{', '.join(ALGORITHMS)}.", one_of(*ALGORITHMS))
    memory_size: int = setting(5, "M: programs remembered for an observation.", at_least(1))
    proposals: int = setting(5, "R: programs proposed at a visit.", at_least(1))
    replay: str = setting("draw", "draw (the paper's) or expected (all M weighted).", one_of("draw", "expected"))
    explore: float | None = setting(
        None, "Share of proposals drawn from the prior; by default none, or a tenth if M is 1.", share
    )
    revise: float = setting(0.0, "Share of proposals that change a remembered program.", share)
    tail: bool = setting(False, "Train on proposals outside of the memory too, weighted (docs/algorithms.md).")
    particles: int = setting(10, "K: programs drawn by rws and vimco.", at_least(1))
    pretrain: int = setting(0, "Steps of sleep before the first: recognition learns from dreams alone.", at_least(0))
    steps: int = setting(10_000, "Steps to make.", at_least(1))
    batch_size: int = setting(20, "Observations in a step.", at_least(1))
    learning_rate: float = setting(1e-3, "Adam's learning rate.", positive)
    hold: float = setting(
        1.0, "Share of the steps before the learning rate falls in a line to a hundredth; 1: it never falls.", share
    )
    seed: int = setting(0, "Seed of the networks and of all that is drawn.")
    checkpoint_every: int = setting(5000, "Steps between checkpoints.", at_least(1))
    rows_at_once: int = setting(0, "Observations on the devices, the rest on the host; 0: all.", at_least(0))
    settings: dict[str, Any] = field(default_factory=dict)
    """The settings of the domain that differ from their defaults."""
    domain_digest: str = ""
    """The SHA-256 of the domain's file, where `domain` names a file."""
    data_digest: str = ""
    version: str = ""
    commit: str = ""
    """The commit of the package's source that the run was started with, where it is known."""

    def __post_init__(self) -> None:
        """Refuses values outside the limits of a setting."""
        for f in fields(self):
            if (check := f.metadata.get("check")) is not None:
                check(f.name, getattr(self, f.name))


def parse(given: Any) -> Config:
    """The configuration that decoded JSON describes; refuses unknown names, missing ones, and values of other types."""
    known = {f.name: f for f in fields(Config)}
    if not isinstance(given, dict) or "domain" not in given:
        raise Refusal("A configuration is a table that names at least the domain.")
    if unknown := sorted(set(given) - set(known)):
        raise Refusal(f"There are unknown settings: {', '.join(unknown)}; known are {', '.join(sorted(known))}.")
    for name, value in given.items():
        if not _has_type(value, known[name].type):
            raise Refusal(f"{name} must be {_type_name(known[name].type)}, but {value!r} was given.")
    return Config(**given)


def offered() -> list[Field]:
    """The fields of `Config` that the command line offers."""
    return [f for f in fields(Config) if "help" in f.metadata]


def make_optimiser(config: Config) -> "optax.GradientTransformation":
    """Adam, with a learning rate that is held for `hold` of the steps and then falls."""
    import optax

    rate = config.learning_rate
    if config.hold == 1:
        return optax.adam(rate)
    held = int(config.hold * config.steps)
    return optax.adam(optax.linear_schedule(rate, rate / RATE_FALL, config.steps - held, held))


def make_algorithm(config: Config, optimiser: "optax.GradientTransformation | None" = None) -> "Algorithm":
    """The algorithm that the configuration names, with those of its settings that the algorithm takes."""
    recipe = ALGORITHMS[config.algorithm]
    function = getattr(import_module("wakesleep.core.algorithms"), recipe.function)
    taken = signature(function).parameters
    options = {f.name: getattr(config, f.name) for f in fields(config) if f.name in taken} | recipe.fixed
    made: Algorithm = function(make_optimiser(config) if optimiser is None else optimiser, **options)
    return made


def _has_type(value: Any, kind: Any) -> bool:
    """Whether a value is of a field's type; a whole number counts as a number, a truth value does not."""
    if kind is not bool and isinstance(value, bool):
        return False
    if kind in (float, float | None) and isinstance(value, int):
        return True
    return isinstance(value, dict if kind == dict[str, Any] else kind)


def _type_name(kind: Any) -> str:
    return {int: "a whole number", float: "a number", float | None: "a number or nothing", str: "a word"}.get(
        kind, "a table" if kind == dict[str, Any] else str(kind)
    )
