"""What determines a run: `Config`, with the default, help text and limits of every setting, and the algorithms by name.

The options of `wakesleep train` are made from these fields, so nothing here imports JAX before an algorithm is made.
A new option of an algorithm is an argument of its function in `core.algorithms` and a field of the same name here; a
new algorithm is a line of `ALGORITHMS`.
"""

import math
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
SHOWN_CHARACTERS = 60
DOMAIN_CHARACTERS = 4096
RATE_FALL = 100
"""What the learning rate is divided by when it has fallen."""
OPTIMISERS = ("adam", "adamw", "amsgrad", "nadam", "lion", "rmsprop", "sgd")
"""Names of `optax`, each made with a learning rate and else its defaults."""
MOST_STEPS = 2**31 - 1
"""A state counts its steps in 32 bits."""
MOST_PROGRAMS_AT_ONCE = 2**20
"""The most programs of an observation that are remembered, or considered in a step."""


class Recipe(NamedTuple):
    """A function of `core.algorithms`, and the arguments that the name of the algorithm decides."""

    function: str
    fixed: dict[str, Any]


ALGORITHMS = {
    "mws": Recipe("mws", {}),
    "mws-paper": Recipe("mws", {"paper": True}),
    "mws-replay": Recipe("mws", {"recognition": "replay"}),
    "mws-fantasy": Recipe("mws", {"recognition": "fantasy"}),
    "mws-both": Recipe("mws", {"recognition": "both"}),
    "mws-sparing": Recipe("mws", {"recognition": "sparing"}),
    "rws": Recipe("rws", {}),
    "rws-sleep": Recipe("rws", {"recognition": "sleep"}),
    "rws-both": Recipe("rws", {"recognition": "both"}),
    "vimco": Recipe("vimco", {}),
    "hmws": Recipe("hmws", {}),
    "hmws-logsumexp": Recipe("hmws", {"recognition": "logsumexp"}),
}


def setting(default: Any, told: str, check: Check | None = None) -> Any:
    """Declares a field of `Config` that the command line offers: its default, its help text and its check."""
    return field(default=default, metadata={"help": told, "check": check})


def between(least: int, most: int) -> Check:
    """Returns a check that refuses smaller and greater numbers."""

    def check(name: str, value: int) -> None:
        require_at_least(name, value, least)
        if value > most:
            raise Refusal(f"{name} must be at most {most}, but {short(value)} was given.")

    return check


def one_of(*known: str) -> Check:
    """Returns a check that refuses other words."""
    return lambda name, value: require_one_of(name, value, known)


def share(name: str, value: int | float | None) -> None:
    """Refuses what is neither None nor between 0 and 1."""
    if value is not None:
        require_share(name, value)


def positive(name: str, value: int | float) -> None:
    """Refuses numbers that are not above zero."""
    if not 0 < value < math.inf:
        raise Refusal(f"{name} must be positive and finite, but {value} was given.")


def short(value: Any) -> str:
    """Returns a value in a few words, however long it is."""
    if isinstance(value, int) and abs(value) >= 10**SHOWN_CHARACTERS:
        return f"a number of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


@dataclass(frozen=True)
class Config:
    """All that determines a run."""

    domain: str
    """A name, `package.module:NAME`, or the absolute path of a file and a name in it, `/path/file.py:NAME`."""
    algorithm: str = setting("mws", f"{', '.join(ALGORITHMS)}.", one_of(*ALGORITHMS))
    memory_size: int = setting(5, "M: programs remembered for an observation.", between(1, MOST_PROGRAMS_AT_ONCE))
    proposals: int = setting(5, "R: programs proposed at a visit.", between(1, MOST_PROGRAMS_AT_ONCE))
    replay: str = setting("draw", "draw (the paper's) or expected (all M weighted).", one_of("draw", "expected"))
    explore: float | None = setting(
        None, "Share of proposals drawn from the prior; by default none, or a tenth if M is 1 and tail is off.", share
    )
    revise: float = setting(0.0, "Share of proposals that change a remembered program.", share)
    tail: bool | None = setting(
        None, "Train on proposals outside of the memory too, weighted; by default, unless explore or revise is 1."
    )
    particles: int = setting(10, "K: programs drawn by rws and vimco.", between(1, MOST_PROGRAMS_AT_ONCE))
    fillings: int = setting(10, "P: draws of a program's floats by hmws.", between(1, MOST_PROGRAMS_AT_ONCE))
    pretrain: int = setting(
        0, "Steps of sleep before the first: recognition learns from dreams alone.", between(0, MOST_STEPS)
    )
    steps: int = setting(10_000, "Steps to make.", between(1, MOST_STEPS))
    batch_size: int = setting(20, "Observations in a step.", between(1, MOST_STEPS))
    optimiser: str = setting("adam", f"{', '.join(OPTIMISERS)}.", one_of(*OPTIMISERS))
    learning_rate: float = setting(1e-3, "The optimiser's learning rate.", positive)
    warmup: int = setting(0, "Steps in which the learning rate rises from zero.", between(0, MOST_STEPS))
    hold: float = setting(
        1.0, "Share of the steps before the learning rate falls to a hundredth; 1: it never falls.", share
    )
    fall: str = setting("line", "How the learning rate falls: line or cosine.", one_of("line", "cosine"))
    seed: int = setting(0, "Seed of the networks and of all that is drawn.", between(-(2**63), 2**63 - 1))
    checkpoint_every: int = setting(5000, "Steps between checkpoints.", between(1, MOST_STEPS))
    report_every: int = setting(
        0, "Steps between lines of metrics.jsonl; 0: at checkpoints alone.", between(0, MOST_STEPS)
    )
    watch: int = setting(
        0, "Observations whose memory is followed in memory.jsonl (see: explore).", between(0, MOST_STEPS)
    )
    rows_at_once: int = setting(0, "Observations on the devices, the rest on the host; 0: all.", between(0, MOST_STEPS))
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
        if self.checkpoint_every % self.lines_every:
            raise Refusal(
                f"checkpoint_every ({self.checkpoint_every}) must be a multiple of report_every ({self.report_every}), "
                "so that each checkpoint has its line."
            )

    @property
    def lines_every(self) -> int:
        """Returns the number of steps between lines of the metrics."""
        return self.report_every or self.checkpoint_every


def parse(given: Any) -> Config:
    """Returns the configuration that decoded JSON describes; refuses unknown or missing names and other types."""
    known = {f.name: f for f in fields(Config)}
    if not isinstance(given, dict) or "domain" not in given:
        raise Refusal("A configuration is a table that names at least the domain.")
    if unknown := sorted(set(given) - set(known)):
        named = ", ".join(unknown)[:SHOWN_CHARACTERS]
        raise Refusal(f"There are unknown settings: {named}; known are {', '.join(sorted(known))}.")
    for name, value in given.items():
        if not _has_type(value, known[name].type):
            raise Refusal(f"{name} must be {_type_name(known[name].type)}, but {short(value)} was given.")
    if len(given["domain"]) > DOMAIN_CHARACTERS or "\0" in given["domain"]:
        raise Refusal(f"domain must be the name or the place of a domain, but {short(given['domain'])} was given.")
    return Config(**_as_begun(given))


def _as_begun(given: dict[str, Any]) -> dict[str, Any]:
    """Returns the configuration of a run of version 0.1 with the name that its algorithm has now."""
    if str(given.get("version", "")).startswith("0.1.") and given.get("algorithm", "mws") == "mws":
        return given | {"algorithm": "mws-replay", "tail": False}
    return given


def offered() -> list[Field]:
    """Returns the fields of `Config` that the command line offers."""
    return [f for f in fields(Config) if "help" in f.metadata]


def make_optimiser(config: Config) -> "optax.GradientTransformation":
    """Returns the optimiser, its learning rate risen in `warmup` steps, held for `hold` of all steps, then fallen."""
    import optax

    make = getattr(optax, config.optimiser)
    made: optax.GradientTransformation = make(_rate(config))
    return made


def _rate(config: Config) -> Any:
    """Returns the learning rate: a number where it never changes, else a schedule."""
    import optax

    rate: Any = config.learning_rate
    if config.hold < 1:
        held = int(config.hold * config.steps)
        falling = config.steps - held
        if config.fall == "cosine":
            down = optax.cosine_decay_schedule(rate, max(falling, 1), 1 / RATE_FALL)
            rate = optax.join_schedules([optax.constant_schedule(rate), down], [held])
        else:
            rate = optax.linear_schedule(rate, rate / RATE_FALL, falling, held)
    if not config.warmup:
        return rate
    later = rate if callable(rate) else optax.constant_schedule(rate)
    rise = optax.linear_schedule(0.0, 1.0, config.warmup)
    return lambda step: rise(step + 1) * later(step)


def make_algorithm(config: Config, optimiser: "optax.GradientTransformation | None" = None) -> "Algorithm":
    """Returns the algorithm that the configuration names, with those of its settings that the algorithm takes."""
    recipe = ALGORITHMS[config.algorithm]
    function = getattr(import_module("wakesleep.core.algorithms"), recipe.function)
    taken = signature(function).parameters
    given = [f.name for f in fields(config) if f.name in taken and f.name != "optimiser"]  # of which this is the name
    options = {name: getattr(config, name) for name in given} | recipe.fixed
    if "phases" in taken:
        options["phases"] = config.watch > 0
    made: Algorithm = function(make_optimiser(config) if optimiser is None else optimiser, **options)
    return made


def _has_type(value: Any, kind: Any) -> bool:
    """Whether a value is of a field's type; a whole number counts as a number, a truth value does not."""
    if isinstance(value, bool) and kind not in (bool, bool | None):
        return False
    if kind in (float, float | None) and isinstance(value, int):
        return True
    return isinstance(value, dict if kind == dict[str, Any] else kind)


def _type_name(kind: Any) -> str:
    words = {
        int: "a whole number",
        float: "a number",
        float | None: "a number or nothing",
        bool | None: "true, false or nothing",
        str: "a word",
    }
    return words.get(kind, "a table" if kind == dict[str, Any] else str(kind))
