"""How many packages each extra brings, and how large they are, as they are installed here.

    python benchmarks/installation.py [--output results]

Requirements are followed from pyproject.toml through the metadata of what is installed. An extra of which a package
is not installed is left out and named.
"""

import argparse
import json
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from wakesleep.data import atomic as files
from wakesleep.paper.results import dump

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
EXTRAS = ("", "plots", "explore", "train", "all", "dev")


def required(names: list[str]) -> set[str]:
    """Returns the distributions that requirements bring, by their canonical names."""
    found: set[str] = set()
    waiting = [Requirement(n) for n in names]
    seen: set[str] = set()
    while waiting:
        one = waiting.pop()
        if str(one) in seen:
            continue
        seen.add(str(one))
        if one.name == PROJECT["name"]:
            waiting += [Requirement(r) for e in one.extras for r in PROJECT["optional-dependencies"][e]]
            continue
        found.add(one.name.lower().replace("_", "-"))
        for text in distribution(one.name).requires or []:
            more = Requirement(text)
            if more.marker is None or any(more.marker.evaluate({"extra": e}) for e in ("", *one.extras)):
                waiting.append(more)
    return found


def megabytes(name: str) -> float:
    """Returns the size of a distribution's files."""
    listed = distribution(name).files or []
    sizes = (Path(str(distribution(name).locate_file(f))) for f in listed if ".pyc" not in f.name)
    return sum(p.stat().st_size for p in sizes if p.is_file()) / 1e6


def row(extra: str) -> dict[str, Any]:
    """Returns the packages and the size of the plain requirements with one extra."""
    names = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"].get(extra, [])]
    try:
        found = sorted(required(names))
    except PackageNotFoundError as error:
        return {"extra": extra or "none", "not_installed": str(error.name)}
    sizes = {name: megabytes(name) for name in found}
    largest = sorted(sizes, key=lambda n: -sizes[n])[:3]
    return {
        "extra": extra or "none",
        "packages": len(found),
        "megabytes": round(sum(sizes.values())),
        "largest": {name: round(sizes[name]) for name in largest},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    rows = [row(extra) for extra in EXTRAS]
    print("\n".join(map(json.dumps, rows)))
    if options.output is not None:
        files.write_whole(options.output / "benchmark-installation.json", dump({"rows": rows, "settings": {}}))


if __name__ == "__main__":
    main()
