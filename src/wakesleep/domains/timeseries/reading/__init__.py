"""Reading series: from files, frames and Python into one form."""

from wakesleep.domains.timeseries.reading.series import Series, series_of
from wakesleep.domains.timeseries.reading.tables import read_series

__all__ = ["Series", "read_series", "series_of"]
