"""The table of the integer sequences, from the results of benchmarks/sequences.py."""

from pathlib import Path

import numpy as np

from wakesleep.errors import Refusal
from wakesleep.paper.results import Row, load
from wakesleep.paper.tables import markdown

DEFAULT = "MWS-tail+fantasy"
"""The row that `mws` is when nothing is said."""
SEQUENCE_COLUMNS = (("nll", "NLL"), ("nll_new", "NLL of new sequences"), ("noise", "noise"))


def table_sequences(folder: Path) -> str:
    """Returns means over seeds for each algorithm and K, the best first, and how far the default is from the best."""
    table = load(folder / "benchmark-sequences.json")
    if table is None:
        raise Refusal(f"{folder} has no benchmark-sequences.json: make it with python benchmarks/sequences.py.")
    rows = sorted(table["rows"], key=lambda row: (-row["K"], np.mean(row["nll"])))
    head = ["", *(title for _, title in SEQUENCE_COLUMNS)]
    lines = [[_name(row), *(_spread(row[name], name) for name, _ in SEQUENCE_COLUMNS)] for row in rows]
    gaps = [f"{gap:.2f} at K = {k}" for k, gap in default_gaps(rows).items()]
    first = rows[0]
    caption = (
        f"Means ± standard deviations of {first['seeds']} seeds after {first['steps']:,} steps, nats for a sequence of "
        f"eight terms, exact; {table['settings']['observations']} sequences; the true noise is 0.10. The default is "
        f"above the best by {', '.join(gaps)}."
    )
    return markdown(head, lines) + "\n\n" + caption


def default_gaps(rows: list[Row]) -> dict[int, float]:
    """Returns by how much the mean NLL of the default is above the least, for each K that it was run with."""
    means = {(row["K"], row["algorithm"]): float(np.mean(row["nll"])) for row in rows}
    ks = sorted({k for k, name in means if name == DEFAULT}, reverse=True)
    return {k: means[k, DEFAULT] - min(nll for (other, _), nll in means.items() if other == k) for k in ks}


def _name(row: Row) -> str:
    return f"K = {row['K']}, {row['algorithm']}" + (" (default)" if row["algorithm"] == DEFAULT else "")


def _spread(values: list[float], measure: str) -> str:
    digits = 3 if measure == "noise" else 2
    spread = f" ± {np.std(values, ddof=1):.{digits}f}" if len(values) > 1 else ""
    return f"{np.mean(values):.{digits}f}{spread}"


TABLES = {"sequences": table_sequences}
