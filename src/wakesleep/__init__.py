"""Learning generative programs with Memoised Wake-Sleep.

The names below are imported when first used, so that `import wakesleep` and `wakesleep --help` cost
nothing. The training loop is `wakesleep.fit`.
"""

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

_HOMES = {
    "Model": "core.model",
    "Prior": "core.model",
    "Evaluator": "core.model",
    "Recognition": "core.model",
    "Observations": "core.model",
    "Batch": "core.model",
    "Memory": "core.memory",
    "Weighted": "core.memory",
    "Algorithm": "core.algorithms",
    "State": "core.algorithms",
    "mws": "core.algorithms",
    "rws": "core.algorithms",
    "vimco": "core.algorithms",
    "fit": "core.fit",
    "importance": "core.evaluate",
    "exact": "core.evaluate",
    "refined": "core.evaluate",
    "posterior": "core.evaluate",
    "dream": "core.model",
    "pretrain": "core.pretrain",
    "remember": "core.evaluate",
    "Dataset": "domains.contract",
    "Domain": "domains.contract",
    "Explainer": "domains.contract",
    "Explanation": "domains.contract",
    "explain_strings": "domains.strings.explain",
    "explain_series": "domains.timeseries.explain",
}
__all__ = sorted(_HOMES)  # noqa: PLE0605, the names of the table above


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'wakesleep' has no attribute {name!r}")
    return getattr(import_module(f"wakesleep.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
