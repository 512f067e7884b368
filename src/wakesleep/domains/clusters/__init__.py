"""Clusters: a nonparametric Gaussian mixture in which everything can be checked exactly (section 4.1)."""

from wakesleep.domains.clusters.data import Settings, build, load, programs
from wakesleep.domains.clusters.show import picture, show, words
from wakesleep.domains.contract import Domain

DOMAIN = Domain("clusters", Settings, load, build, show, words, picture, programs)
