"""What each source of proposals gives to the programs of columns: the first program judged without it.

    WAKESLEEP_DATA=... python benchmarks/column_sources.py    # writes results/benchmark-column-sources.json

`right` is the share of canonical columns that are right at 8 and at 30 examples (`canonical.py`, one draw, all parts
but those kept fresh).
`half` and `ten` are the scores of the first program as a rule on real tables (`tables.py`). Programs are those of the
posterior, without the strays that an explanation leaves out. `prior not learned` scores programs by the first guess of
the prior's weights. `library` is the prior without its library, whose choice is left unused. `prior without tables` is
learned, with its library, on the string concepts alone, so that nothing of these tables was seen; `and without a
library` is the same without mining.
"""

import argparse
import statistics
from functools import cache
from pathlib import Path
from typing import Any

from canonical import ACCEPTED, COLUMNS, PART_OF, RECALL, drawn
from tables import Task, tasks

from wakesleep.domains.strings.columns.explanation import Rule
from wakesleep.domains.strings.columns.judge import sources
from wakesleep.domains.strings.columns.learn import concept_columns, learn_prior
from wakesleep.domains.strings.columns.library import LIBRARY
from wakesleep.domains.strings.columns.posterior import PROPOSERS, infer
from wakesleep.domains.strings.columns.prior import FIRST_GUESS, Weights, normalised, shipped
from wakesleep.paper.results import Row, complete

EVERYTHING, NOT_LEARNED = "everything", "prior not learned"
NO_TABLES, NO_TABLES_NO_LIBRARY = "prior without tables", "prior without tables and without a library"
CONCEPTS, ROUNDS = 600, 3
KNOWN = [name for name in COLUMNS if PART_OF[name] != "fresh"]


@cache
def weights_for(left_out: str) -> Weights | None:
    """The prior's weights without what is left out; None for those shipped."""
    if left_out == NOT_LEARNED:
        return normalised(FIRST_GUESS)
    if left_out == LIBRARY:
        return {k: v for k, v in shipped().items() if not k.startswith(f"{LIBRARY}: ")}
    if left_out in (NO_TABLES, NO_TABLES_NO_LIBRARY):
        concepts = concept_columns(sources.data_folder())
        some = concepts[:: max(1, len(concepts) // CONCEPTS)]
        return normalised(learn_prior(some, ROUNDS, left_out == NO_TABLES))
    return None


def rule(values: list[str], left_out: str) -> Rule:
    """The first program for values, without one source."""
    return Rule(infer(values, weights=weights_for(left_out), without=[left_out]).entries[0].program)


def right(left_out: str, examples: int) -> float:
    """The share of canonical columns that are right."""
    found = []
    for name in KNOWN:
        given, fresh, wrong = drawn(name, examples, 0)
        accepts = rule(given, left_out).accepts
        recall, accepted = statistics.fmean(map(accepts, fresh)), statistics.fmean(map(accepts, wrong))
        found.append(recall >= RECALL and accepted <= ACCEPTED)
    return round(statistics.fmean(found), 3)


def score(left_out: str, given: list[Task]) -> float:
    """The mean over columns of accepted rows and detected errors."""
    found = []
    for task in given:
        accepts = rule(task.fitted, left_out).accepts
        accepted = statistics.fmean(map(accepts, task.later))
        detected = 1 - statistics.fmean(accepts(text) for _, text in task.wrong)
        found.append((accepted + detected) / 2)
    return round(statistics.fmean(found), 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("results"))
    options = parser.parse_args()
    tables = sources.text_tables(sources.data_folder() / "tables")
    given = {fitted: list(tasks(tables, fitted)) for fitted in ("half", "ten")}

    def compute(cell: Row) -> dict[str, Any]:
        left_out = cell["without"]
        found = {f"right_{k}": right(left_out, k) for k in (8, 30)}
        return found | {fitted: score(left_out, some) for fitted, some in given.items()}

    cells: list[Row] = [
        {"without": x} for x in (EVERYTHING, *PROPOSERS, NOT_LEARNED, LIBRARY, NO_TABLES, NO_TABLES_NO_LIBRARY)
    ]
    for row in complete(options.output / "benchmark-column-sources.json", {"columns": len(KNOWN)}, cells, compute):
        print(row)


if __name__ == "__main__":
    main()
