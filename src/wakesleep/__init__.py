"""Learning generative programs with Memoised Wake-Sleep.

The names below are imported when first used, so that `import wakesleep` and `wakesleep --help` cost
nothing.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Model": "core.model",
    "Prior": "core.model",
    "Evaluator": "core.model",
    "Recognition": "core.model",
    "Observations": "core.model",
    "Batch": "core.model",
    "dream": "core.model",
    "Memory": "core.memory",
    "Weighted": "core.memory",
    "Algorithm": "core.step",
    "State": "core.step",
    "Info": "core.step",
    "algorithm": "core.step",
    "report": "core.step",
    "mws": "core.algorithms",
    "rws": "core.algorithms",
    "vimco": "core.algorithms",
    "check": "core.check",
    "fit": "core.fit",
    "insert": "core.insert",
    "pretrain": "core.pretrain",
    "TokenPrior": "core.networks",
    "LstmWriter": "core.networks",
    "grammar": "core.networks",
    "TokenRecognition": "core.recognition",
    "importance": "core.importance",
    "exact": "core.evaluate",
    "refined": "core.evaluate",
    "posterior": "core.evaluate",
    "remember": "core.remember",
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
