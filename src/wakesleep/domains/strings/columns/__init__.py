"""The language of real columns: programs, their posterior for a column, and the explanation; plain Python and NumPy."""

from wakesleep.domains.strings.columns.explanation import Explanation, Outlier, Pattern, explain, restore

__all__ = ["Explanation", "Outlier", "Pattern", "explain", "restore"]
