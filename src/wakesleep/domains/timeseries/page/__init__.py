"""The page of series: its parts, what comes next, what does not fit, and the sentences that say so."""

from wakesleep.domains.timeseries.page.series import SERIES_PAGE

PAGES = (SERIES_PAGE,)
