"""What a user is told when a request cannot be served."""

EXTRAS = {
    "explore": ("anyio", "jinja2", "starlette", "uvicorn"),
    "plots": ("matplotlib",),
    "train": ("jax", "jaxlib", "equinox", "filelock", "optax", "orbax", "PIL", "pooch", "safetensors", "scipy"),
}
"""The optional parts of an installation, and the modules that each brings."""

LONGEST_WORD = 100
"""Characters of a word from a file that a sentence repeats."""


class Refusal(ValueError):
    """One sentence: what was given, what was expected, what to do; the command line then exits with 2."""


class MissingExtra(Refusal, ImportError):
    """An optional part of the installation is not there."""


def missing_extra(error: ModuleNotFoundError) -> Exception:
    """Returns what is said of a module that an extra brings; any other error is returned as it is."""
    module = (error.name or "").partition(".")[0]
    for extra, modules in EXTRAS.items():
        if module in modules:
            return MissingExtra(f"This needs {module}, which is not installed: pip install 'wakesleep[{extra}]'.")
    return error


def require_at_least(name: str, value: int | float, least: int | float) -> None:
    """Refuses a setting that is too small."""
    if not value >= least:
        raise Refusal(f"{name} must be at least {least}, but {value} was given.")


def require_one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    """Refuses a word that is not known, with the list of those that are."""
    if value not in known:
        raise Refusal(f"{name} must be one of {', '.join(known)}, but {quoted(value)} was given.")


def quoted(word: object) -> str:
    """Returns a word from a file as a sentence repeats it: in quotes, and only the beginning of a long one."""
    given = repr(word)
    return given if len(given) <= LONGEST_WORD else given[: LONGEST_WORD - 1] + "…"


def require_share(name: str, value: int | float) -> None:
    """Refuses a setting that is not between zero and one."""
    if not 0 <= value <= 1:
        raise Refusal(f"{name} must lie between 0 and 1, but {value} was given.")
