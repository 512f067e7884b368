"""The page of drawings: a character drawn by hand, and the strokes that explain it."""

from wakesleep.domains.characters.page.drawing import DRAWING_PAGE

PAGES = (DRAWING_PAGE,)
