"""Learning generative programs with Memoised Wake-Sleep.

The names below are imported when first used, so that `import wakesleep` and `wakesleep --help` cost nothing, and so
that columns are explained without what only training needs (`pip install 'wakesleep[train]'`).
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
    "dream": "core.model",
    "Memory": "core.memory",
    "Weighted": "core.memory",
    "inference_data": "core.inference_data",
    "Algorithm": "core.step",
    "State": "core.step",
    "Info": "core.step",
    "algorithm": "core.step",
    "report": "core.step",
    "mws": "core.algorithms",
    "rws": "core.algorithms",
    "vimco": "core.algorithms",
    "hmws": "core.hybrid",
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
    "Dataset": "domains.contract",
    "Domain": "domains.contract",
    "Explainer": "domains.contract",
    "Explanation": "domains.contract",
    "explain_strings": "domains.strings.explain",
    "explain_table": "domains.strings.explain",
    "read_contract": "domains.strings.table.contract",
    "explain_series": "domains.timeseries.explain",
    "read_series": "domains.timeseries.reading.tables",
    "forecast_frame": "domains.timeseries.forecasting.nixtla",
}
__all__ = sorted(_HOMES)  # noqa: PLE0605, the names of the table above


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'wakesleep' has no attribute {name!r}")
    try:
        return getattr(import_module(f"wakesleep.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        from wakesleep.errors import missing_extra

        raise missing_extra(error) from None


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
