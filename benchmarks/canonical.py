"""Canonical columns: does the first pattern hold what it should, and no near miss? Beside rexpy and grex, in one run.

    python benchmarks/canonical.py            # writes results/benchmark-canonical.json
    pip install 'wakesleep[peers]'

A column is right if the rule accepts at least .95 of 200 values not given and at most .05 of 60 near misses. The first,
third and so on of the 82 columns were looked at while the language was built (develop); the others were not (held
out), but their totals were seen. Later 56 more were written, all before any was run, and looked at in two steps
(second, third). Then 84 more: half of them were looked at (fourth); the others were run once, when the language was
settled (fresh), and looked at later. Last came 124 by another hand (`canonical_strict.py`), whose near misses are
written one by one: of some 25 only one may be accepted. `matches` also asks for check digits and valid days; `regex` is
the exported pattern alone.
"""

import argparse
import json
import random
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from canonical_columns import COLUMNS as FIRST
from canonical_misses import near_misses
from canonical_more import SECOND, THIRD
from canonical_strict import strict_drawn, strict_parts
from canonical_wild import FOURTH, FRESH

from wakesleep.domains.strings.columns import explain

VALUES, MISSES, DRAWS = 200, 60, 3
RECALL, ACCEPTED = 0.95, 0.05
COLUMNS = {**FIRST, **SECOND, **THIRD, **FOURTH, **FRESH}
PARTS = {
    "develop": list(FIRST)[::2],
    "held out": list(FIRST)[1::2],
    "second": list(SECOND),
    "third": list(THIRD),
    "fourth": list(FOURTH),
    "fresh": list(FRESH),
    **strict_parts(),
}
PART_OF = {column: part for part, columns in PARTS.items() for column in columns}
Rule = Callable[[Sequence[str]], Any]


def by_regexes(regexes: Sequence[str]) -> Rule:
    compiled = [re.compile(x) for x in regexes]
    return lambda values: [any(c.fullmatch(v) for c in compiled) for v in values]


def ours(examples: list[str]) -> tuple[dict[str, Rule], str]:
    found = explain(examples)
    first = found.patterns[0].regex
    return {
        "wakesleep matches": found.matches,
        "wakesleep regex": by_regexes([first]),
        "wakesleep accepts": found.accepts,
    }, first


def rexpy(examples: list[str]) -> tuple[dict[str, Rule], str]:
    from tdda import rexpy as tool

    found = tool.extract(examples)
    return {"rexpy": by_regexes(found)}, "|".join(found)


def grex(examples: list[str]) -> tuple[dict[str, Rule], str]:
    from grex import RegExpBuilder

    builder = RegExpBuilder.from_test_cases(list(dict.fromkeys(examples)))
    found = builder.with_conversion_of_digits().with_conversion_of_words().with_conversion_of_repetitions().build()
    return {"grex -d -w -r": by_regexes([found])}, found


TOOLS = {"wakesleep": ours, "rexpy": rexpy, "grex": grex}


def drawn(name: str, count: int, seed: int) -> tuple[list[str], list[str], list[str]]:
    """Examples of a column, fresh values and near misses."""
    if name not in COLUMNS:
        return strict_drawn(name, count, seed)
    draw, right = COLUMNS[name]
    r = random.Random(f"{name} {count} {seed}")
    examples = [draw(r) for _ in range(count)]
    fresh = [draw(r) for _ in range(VALUES)]
    assert all(map(right, fresh)), name
    return examples, fresh, near_misses(draw, right, r, MISSES)


def judge(name: str, count: int, seed: int, tools: Sequence[str]) -> list[dict[str, Any]]:
    examples, fresh, wrong = drawn(name, count, seed)
    rows = []
    for tool in tools:
        start = time.process_time()
        rules, pattern = TOOLS[tool](examples)
        spent = time.process_time() - start
        for rule_name, rule in rules.items():
            recall = sum(map(bool, rule(fresh))) / len(fresh)
            accepted = sum(map(bool, rule(wrong))) / max(len(wrong), 1)
            rows.append({
                "column": name, "examples": count, "draw": seed, "rule": rule_name, "recall": recall,
                "accepted": accepted, "right": recall >= RECALL and accepted <= ACCEPTED, "pattern": pattern,
                "cpu_ms": round(1000 * spent, 1),
                "part": PART_OF[name],
            })  # fmt: skip
    return rows


def table(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for rule in dict.fromkeys(r["rule"] for r in rows):
        for count in dict.fromkeys(r["examples"] for r in rows):
            for part in dict.fromkeys(r["part"] for r in rows):
                mine = [r for r in rows if (r["rule"], r["examples"], r["part"]) == (rule, count, part)]
                mean = {
                    k: round(sum(r[k] for r in mine) / len(mine), 3) for k in ("right", "recall", "accepted", "cpu_ms")
                }
                found.append(
                    {"rule": rule, "examples": count, "part": part, "columns": len({r["column"] for r in mine}), **mean}
                )
    return found


def by_column(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """For each rule and number of examples, the share of draws in which each column was right, if not all."""
    found: dict[str, dict[str, float]] = {}
    for rule, count in dict.fromkeys((r["rule"], r["examples"]) for r in rows):
        mine = [r for r in rows if (r["rule"], r["examples"]) == (rule, count)]
        shares = {c: [r["right"] for r in mine if r["column"] == c] for c in dict.fromkeys(r["column"] for r in mine)}
        found[f"{rule}, {count}"] = {c: round(sum(s) / len(s), 2) for c, s in shares.items() if not all(s)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("results"))
    parser.add_argument("--tools", nargs="*", default=list(TOOLS))
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--parts", nargs="*", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--show", choices=list(PARTS), help="print what was wrong in that part")
    options = parser.parse_args()
    rows = [
        row
        for name in PART_OF
        if PART_OF[name] in options.parts
        for count in (8, 30)
        for seed in range(options.draws)
        for row in judge(name, count, seed, options.tools)
    ]
    for row in rows:
        if row["part"] == options.show and not row["right"] and row["rule"].startswith("wakesleep m"):
            print(
                f"{row['column']} ({row['examples']}): {row['recall']:.2f} {row['accepted']:.2f} {row['pattern'][:150]}"
            )
    summary = table(rows)
    for line in summary:
        print(line)
    document = {
        "command": "python benchmarks/canonical.py",
        "columns": len(PART_OF),
        "draws": options.draws,
        "table": summary,
        "right": by_column(rows),
        "patterns": {
            r["column"]: r["pattern"] for r in rows if r["rule"] == "wakesleep matches" and r["examples"] == 30
        },
    }
    if options.tools == list(TOOLS) and options.parts == list(PARTS):
        options.output.mkdir(exist_ok=True)
        (options.output / "benchmark-canonical.json").write_text(
            json.dumps(document, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
