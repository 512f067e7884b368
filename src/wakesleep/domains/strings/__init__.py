"""Strings: columns of short text; a program is a probabilistic regular expression (section 4.3).

`DOMAIN` is built when it is first asked for, so that `wakesleep.domains.strings.columns` starts without JAX.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    if name != "DOMAIN":
        raise AttributeError(f"module 'wakesleep.domains.strings' has no attribute {name!r}")
    from wakesleep.domain import Domain
    from wakesleep.domains.strings.data import Settings, build, load, programs
    from wakesleep.domains.strings.evaluator import Strings
    from wakesleep.domains.strings.show import picture, show, words

    built = Domain("strings", Settings, load, build, show, words, picture, programs, observation=Strings)
    globals()["DOMAIN"] = built
    return built
