"""The table of series whose continuous variables are integrated out, from its results file."""

from pathlib import Path

import numpy as np

from wakesleep.paper.results import longest
from wakesleep.paper.tables import markdown
from wakesleep.paper.timeseries_hybrid import HYBRID


def table_hybrid(folder: Path) -> str:
    """Returns the bounds on log p(x) of each algorithm, on series trained on and on new ones."""
    table = longest(folder / f"{HYBRID}.json")
    rows, settings = table["rows"], table["settings"]
    names = [f"{split}_{count}" for split in ("trained", "new") for count in settings["samples"]]
    titles = [f"{split}, {count:,} samples" for split in ("trained on", "new series") for count in settings["samples"]]
    lines = []
    for algorithm in dict.fromkeys(row["algorithm"] for row in rows):
        some = [row for row in rows if row["algorithm"] == algorithm]
        lines.append([algorithm, *(_spread([row[name] for row in some]) for name in names), f"{len(some)}"])
    caption = (
        f"Lower bounds on log p(x) in nats of a series of {settings['points']} points (higher is better), mean ± "
        f"standard deviation over seeds; {settings['series']} series, {rows[0]['steps']:,} steps, {rows[0]['K']} "
        "evaluations for a series in a step."
    )
    return markdown(["", *titles, "seeds"], lines) + "\n\n" + caption


def _spread(values: list[float]) -> str:
    return f"{np.mean(values):.1f}" + (f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else "")


DRAW: dict = {}
TABLES = {HYBRID: table_hybrid}
