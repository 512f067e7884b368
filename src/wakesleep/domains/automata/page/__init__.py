"""The page of automata: the exact posterior over rules, computed in the browser."""

from pathlib import Path

from wakesleep.domains.pages import Page

PAGES = (
    Page(
        name="Automaton",
        idea="Click the bits of a rule, paint noise over what it grows, and watch which rules remain probable.",
        folder=Path(__file__).parent,
        scripts=("automaton.js",),
    ),
)
