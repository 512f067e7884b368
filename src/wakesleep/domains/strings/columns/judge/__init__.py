"""Judges values of a column by what is news in them: `fit(values)`, `accepts`, `evidence`, `why`."""

from wakesleep.domains.strings.columns.judge.judge import Judge, fit, restore

__all__ = ["Judge", "fit", "restore"]
