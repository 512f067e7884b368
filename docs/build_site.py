"""The site: gathers its pages in build/docs, with the API from docstrings and the tutorials from their scripts.

    python docs/build_site.py                       # writes build/docs and build/mkdocs.yml
    python docs/build_site.py --check build/site    # follows every link of the built site
    python docs/build_site.py --run [NAME ...]      # runs tutorials, and keeps what they print in tutorials/output.json

Pages of docs/ link to each other and to files beside docs/. Here the latter are copied into the site.
"""

import contextlib
import io
import json
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import wakesleep

ROOT = Path(__file__).parents[1]
DOCS, BUILD = ROOT / "docs", ROOT / "build"
OUTPUT = DOCS / "tutorials" / "output.json"
PAGES_BESIDE = ("CHANGELOG.md", "CONTRIBUTING.md")
API = {
    "Explaining": ("domains.",),
    "The model": ("core.model",),
    "Algorithms": ("core.algorithms", "core.hybrid", "core.step"),
    "Training": ("core.fit", "core.memory", "core.insert", "core.pretrain", "core.check"),
    "Networks": ("core.networks", "core.recognition"),
    "Evaluation": ("core.evaluate", "core.importance", "core.remember", "core.inference_data"),
}
"""Pages of the API, and the modules whose public names each has."""
LINK = re.compile(r"\]\(([^)\s]+)\)")


def api_pages() -> dict[str, str]:
    """Returns the pages of the API by their path; a public name whose module no page has is an error."""
    left, pages = dict(wakesleep._HOMES), {}
    for title, modules in API.items():
        names = [n for n, home in wakesleep._HOMES.items() if any(home == m or home.startswith(m) for m in modules)]
        entries = "".join(f"::: wakesleep.{left.pop(name)}.{name}\n" for name in names)
        pages[f"api/{title.lower().replace(' ', '-')}.md"] = f"# {title}\n\n{entries}"
    if left:
        raise SystemExit(f"No page of the API has {', '.join(left)}: add the module to API in docs/build_site.py.")
    return pages


def cells(script: Path) -> list[str]:
    """Returns the cells of a tutorial."""
    return re.split(r"^# %%.*\n", script.read_text(encoding="utf-8"), flags=re.MULTILINE)


def run_tutorial(script: Path) -> list[str]:
    """Runs a tutorial, and returns what each of its cells prints."""
    space: dict[str, object] = {"__name__": script.stem}
    found = []
    for cell in cells(script):
        with contextlib.redirect_stdout(io.StringIO()) as told:
            exec(compile(cell, script.name, "exec"), space)
        found.append(told.getvalue().strip("\n"))
    return found


def keep_output(names: list[str]) -> None:
    """Runs tutorials, all by default, and keeps what they print."""
    kept = json.loads(OUTPUT.read_text(encoding="utf-8")) if OUTPUT.exists() else {}
    for name in names or sorted(path.stem for path in OUTPUT.parent.glob("*.py")):
        kept[name] = run_tutorial(OUTPUT.parent / f"{name}.py")
    OUTPUT.write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def tutorial(script: Path) -> str:
    """Returns a script as a page: its comments that begin a cell are prose, then come the code and what it printed."""
    printed = json.loads(OUTPUT.read_text(encoding="utf-8"))[script.stem]
    parts = []
    for cell, told in zip(cells(script), printed, strict=True):
        lines = cell.strip("\n").splitlines()
        prose = []
        while lines and lines[0].startswith("#"):
            prose.append(lines.pop(0).removeprefix("#").removeprefix(" "))
        code = "\n".join(lines).strip("\n")
        shown = (f"\n\n```python\n{code}\n```" if code else "") + (f"\n\n```text\n{told}\n```" if told else "")
        parts.append("\n".join(prose) + shown)
    return "\n\n".join(parts).strip() + f"\n\nThis page is `docs/tutorials/{script.name}`, which the tests run.\n"


def beside(text: str) -> str:
    """Returns a page whose links to tutorials and files beside docs/ lead into the site; the files are copied there."""

    def moved(match: re.Match[str]) -> str:
        target, _, anchor = match[1].partition("#")
        if target.startswith("tutorials/"):
            return f"]({target.removesuffix('.py')}.md)"
        if not target.startswith("../"):
            return match[0]
        name = target.removeprefix("../")
        if name == "README.md":
            return "](index.md)"
        if name not in PAGES_BESIDE:
            place = BUILD / "docs" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place)
        return f"]({name}{'#' + anchor if anchor else ''})"

    return LINK.sub(moved, text)


def as_addresses(text: str) -> str:
    """Returns a text whose links to pages of docs/ are addresses of the site."""
    return LINK.sub(lambda match: f"]({match[1].removesuffix('.md')}/)", text)


def gather() -> None:
    """Writes the pages of the site."""
    target = BUILD / "docs"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    pages = {path.name: beside(path.read_text(encoding="utf-8")) for path in sorted(DOCS.glob("*.md"))}
    for name in PAGES_BESIDE:
        text = (ROOT / name).read_text(encoding="utf-8")
        pages[name] = re.sub(r"\]\(docs/", "](", text)
    pages |= api_pages()
    pages |= {f"tutorials/{path.stem}.md": tutorial(path) for path in sorted((DOCS / "tutorials").glob("*.py"))}
    for name, text in pages.items():
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    (target / "llms.txt").write_text(as_addresses((DOCS / "llms.txt").read_text(encoding="utf-8")), encoding="utf-8")
    for asset in [*DOCS.glob("*.png"), *DOCS.glob("explore/*.gif")]:
        place = target / asset.relative_to(DOCS)
        place.parent.mkdir(exist_ok=True)
        shutil.copy(asset, place)
    shutil.copy(ROOT / "mkdocs.yml", BUILD / "mkdocs.yml")


class Links(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes what an element links to, and its name."""
        for name, value in attrs:
            if name in ("href", "src", "srcset") and value:
                self.links.add(value)
            elif name == "id" and value:
                self.anchors.add(value)


def check(site: Path) -> list[str]:
    """Returns the links of a built site that lead nowhere."""
    found = {}
    for path in site.rglob("*.html"):
        found[path] = Links()
        found[path].feed(path.read_text(encoding="utf-8"))
    for path in site.glob("llms.txt"):
        found[path] = Links()
        found[path].links = set(LINK.findall(path.read_text(encoding="utf-8")))
    broken = []
    for path, page in found.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link.startswith(("#__", "data:")) or path.name == "404.html":
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = there / "index.html" if there.is_dir() else there
            missing = not there.exists() or (
                parts.fragment and there in found and unquote(parts.fragment) not in found[there].anchors
            )
            if missing:
                broken.append(f"{path.relative_to(site)}: {link}")
    return broken


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        wrong = check(Path(sys.argv[2]).resolve())
        sys.exit("\n".join(["Links that lead nowhere:", *wrong]) if wrong else 0)
    if sys.argv[1:2] == ["--run"]:
        keep_output(sys.argv[2:])
    else:
        gather()
