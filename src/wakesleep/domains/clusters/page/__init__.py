"""The page of points: the exact posterior over clusterings, computed in the browser."""

from pathlib import Path

from wakesleep.domains.pages import Page

PAGES = (
    Page(
        name="Points",
        idea="Drag points: the exact posterior over all their clusterings follows at once.",
        folder=Path(__file__).parent,
        scripts=("points.js",),
    ),
)
