"""What a user is told when a request cannot be served."""


class Refusal(ValueError):
    """One sentence: what was given, what was expected, what to do; the command line then exits with 2."""


def require_at_least(name: str, value: int | float, least: int | float) -> None:
    """Refuses a setting that is too small."""
    if not value >= least:
        raise Refusal(f"{name} must be at least {least}, but {value} was given.")


def require_one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    """Refuses a word that is not known, with the list of those that are."""
    if value not in known:
        raise Refusal(f"{name} must be one of {', '.join(known)}, but {value!r} was given.")


def require_share(name: str, value: int | float) -> None:
    """Refuses a setting that is not between zero and one."""
    if not 0 <= value <= 1:
        raise Refusal(f"{name} must lie between 0 and 1, but {value} was given.")
