"""Learning generative programs with Memoised Wake-Sleep.

The names below are imported when first used, so that `import wakesleep` and `wakesleep --help` cost
nothing. The training loop is `wakesleep.fit.fit`.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Model": "model",
    "Prior": "model",
    "Evaluator": "model",
    "Recognition": "model",
    "Observations": "model",
    "Batch": "model",
    "Memory": "memory",
    "Weighted": "memory",
    "Algorithm": "algorithms",
    "State": "algorithms",
    "mws": "algorithms",
    "rws": "algorithms",
    "vimco": "algorithms",
    "importance": "evaluate",
    "exact": "evaluate",
    "refined": "evaluate",
    "posterior": "evaluate",
    "explain_strings": "columns",
    "explain_series": "series",
}
__all__ = sorted(_HOMES)  # noqa: PLE0605, the names of the table above


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'wakesleep' has no attribute {name!r}")
    return getattr(import_module(f"wakesleep.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
