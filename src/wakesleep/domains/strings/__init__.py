"""Strings: columns of short text; a program is a probabilistic regular expression (section 4.3)."""

from wakesleep.domains.contract import Domain
from wakesleep.domains.strings.data import Settings, build, load, programs
from wakesleep.domains.strings.evaluator import Strings
from wakesleep.domains.strings.show import picture, show, words

DOMAIN = Domain("strings", Settings, load, build, show, words, picture, programs, observation=Strings)
