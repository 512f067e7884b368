"""Time series: a program is a kernel expression of a Gaussian process (the paper's appendix)."""

from wakesleep.domains.contract import Domain
from wakesleep.domains.timeseries.data import Settings, build, load, programs
from wakesleep.domains.timeseries.likelihood import Series
from wakesleep.domains.timeseries.show import picture, show, words

DOMAIN = Domain("timeseries", Settings, load, build, show, words, picture, programs, observation=Series)
