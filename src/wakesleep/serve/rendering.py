"""Templates: those of the explorer, and those in the folders of pages."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, StrictUndefined

from wakesleep import __version__
from wakesleep.domains.pages import Page, Shown

HERE = Path(__file__).parent


class Renderer:
    """Renders templates, with every word escaped."""

    def __init__(self, pages: Mapping[str, Page]) -> None:
        own = FileSystemLoader(HERE / "templates")
        folders = PrefixLoader({name: FileSystemLoader(page.folder) for name, page in pages.items()})
        loader = ChoiceLoader([own, folders])
        self._pages = pages
        self._jinja = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
        self._jinja.filters["percent"] = percent

    def page(self, root: str, page: Page, given: Mapping[str, Any]) -> str:
        """Returns a whole page."""
        return self._render(f"{page.address}/{page.address}.html", root, {"page": page, **given})

    def part(self, root: str, page: Page, shown: Shown) -> str:
        """Returns a piece of a page."""
        return self._render(f"{page.address}/{shown.template}", root, {"page": page, **shown.given})

    def own(self, root: str, template: str, **given: Any) -> str:
        """Returns a template of the explorer itself."""
        return self._render(template, root, {"page": None, **given})

    def _render(self, template: str, root: str, given: Mapping[str, Any]) -> str:
        fixed = {"root": root, "pages": self._pages.values(), "version": __version__}
        return self._jinja.get_template(template).render({**fixed, **given})


def percent(share: float) -> str:
    """Returns a share in percent, with a digit more below one and above 99."""
    if 0 < share < 0.01 or 0.99 < share < 1:
        return f"{100 * share:.1f} %" if 0.001 <= share <= 0.999 else ("< 0.1 %" if share < 0.5 else "> 99.9 %")
    return f"{100 * share:.0f} %"


def event(name: str, data: str) -> bytes:
    """Returns one server-sent event."""
    lines = "".join(f"data: {line}\n" for line in (data.splitlines() or [""]))
    return f"event: {name}\n{lines}\n".encode()


def as_json(thing: Any) -> str:
    """Returns strict JSON: no NaN, no infinity."""
    return json.dumps(thing, ensure_ascii=False, allow_nan=False)
