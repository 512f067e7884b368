"""Automata: images grown by a noisy rule; the rule of each image and the noise of all are to be found (section 4.4)."""

from wakesleep.domains.automata.data import Settings, build, load, programs
from wakesleep.domains.automata.evaluator import Picture
from wakesleep.domains.automata.show import picture, remarks, show, words
from wakesleep.domains.contract import Domain

DOMAIN = Domain("automata", Settings, load, build, show, words, picture, programs, remarks, observation=Picture)
