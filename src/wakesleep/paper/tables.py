"""Tables in Markdown, and their places in documents: between `<!-- table: NAME -->` and `<!-- end -->`."""

import re
from importlib import import_module
from pathlib import Path

MODULES = (
    "clusters",
    "clusters_sizes",
    "strings",
    "columns",
    "generalise",
    "strings_growth",
    "characters",
    "characters_generalise",
    "characters_hand",
    "characters_oneshot",
    "characters_digits",
    "timeseries",
    "timeseries_hybrid",
    "m3",
    "series",
    "automata",
    "scale",
    "published",
    "sequences",
)
"""The modules of `figures` that make tables."""
MARKED = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Returns a Markdown table, the first column to the left and the others to the right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows))


def fill(text: str, folder: Path) -> str:
    """Returns the document with each marked table made anew from the results."""
    found = [import_module(f"wakesleep.paper.figures.{name}").TABLES for name in MODULES]
    tables = {name: table for each in found for name, table in each.items()}

    def made(match: re.Match[str]) -> str:
        return f"{match[1]}{tables[match[2]](folder)}\n{match[3]}"

    return MARKED.sub(made, text)


def update(documents: list[Path], folder: Path) -> list[Path]:
    """Rewrites the tables of the documents, and returns the documents that changed."""
    changed = []
    for document in documents:
        text = document.read_text()
        filled = fill(text, folder)
        if filled != text:
            document.write_text(filled)
            changed.append(document)
    return changed


if __name__ == "__main__":
    import sys

    for changed in update([Path(name) for name in sys.argv[1:]], Path("results")):
        print(f"updated {changed}")
