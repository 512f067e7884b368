"""Strings: the speed of the evaluator, and what the shipped model is worth beside the tools that people use now.

    python benchmarks/strings.py            # both; writes results/benchmark-strings.json
    pip install 'wakesleep[peers]'          # the tools to compare with

Finished rows are kept, as those of `wakesleep reproduce` are. Members of a column are accepted or not from n examples
of it; the values to be rejected are one from each of 200 other columns. Nothing of these columns was used to train or
to calibrate.
"""

import argparse
import random
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from plain_regex import probability

from wakesleep.core.compilation import keep_compiled
from wakesleep.core.keys import fused
from wakesleep.core.model import over_programs
from wakesleep.domains.strings.data import Concept, Settings, build, concepts, load
from wakesleep.domains.strings.evaluator import Regex, as_text
from wakesleep.domains.strings.explain import explain_strings
from wakesleep.domains.strings.language import tree_of
from wakesleep.paper.results import Row, complete

Accept = Callable[..., Any]
OTHERS, MEMBERS = 200, 50
SHARE = None
"""Of the members to accept: None for as many as make the fewest errors on other columns."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("results"))
    parser.add_argument("--examples", type=int, nargs="*", default=[2, 3, 5, 10, 20])
    parser.add_argument("--columns", type=int, default=250)
    parser.add_argument("--pairs", type=int, nargs="*", default=[500, 5000])
    parser.add_argument("--tools", nargs="*", default=list(TOOLS))
    options = parser.parse_args()
    keep_compiled()
    columns = concepts("novel")[: options.columns]
    cells: list[Row] = [{"what": "evaluator", "pairs": pairs} for pairs in options.pairs]
    cells += [{"what": "columns", "tool": t, "examples": n} for n in options.examples for t in options.tools]

    def compute(cell: Row) -> Row:
        if cell["what"] == "evaluator":
            return evaluator_speed(cell["pairs"])
        return usefulness(cell["tool"], columns, cell["examples"])

    settings = {"others": OTHERS, "members": MEMBERS, "share": SHARE, "data": "novel"}
    for row in complete(options.output / "benchmark-strings.json", settings, cells, compute):
        print(row)


def evaluator_speed(pairs: int, repeats: int = 9) -> dict[str, Any]:
    """CPU microseconds for a (regex, five strings) pair: least and median of the repeats, and plain Python's."""
    settings = Settings(longest=20)
    data = load(settings).train
    model = build(jax.random.key(0), settings, data)
    evaluator = model.evaluator
    assert isinstance(evaluator, Regex)
    batch = 50
    keys = jax.random.split(fused(jax.random.key(1)), (batch, pairs // batch))
    x = data[jnp.arange(batch) % len(data)].x
    z = eqx.filter_jit(jax.vmap(jax.vmap(lambda k: model.prior.sample(k, None))))(keys)
    forward = eqx.filter_jit(lambda e, z, x: over_programs(lambda z, x: e.log_prob(x, z), z, x))

    @eqx.filter_jit
    def gradient(e: Regex, z: Any, x: Any) -> Any:
        def total(e: Regex) -> Any:
            log_p = over_programs(lambda z, x: e.log_prob(x, z), z, x)
            return jnp.sum(jnp.where(jnp.isfinite(log_p), log_p, 0.0))

        return eqx.filter_grad(total)(e)

    row: dict[str, Any] = {}
    for name, function in (("forward", forward), ("gradient", gradient)):
        times = _repeat(lambda f=function: jax.block_until_ready(f(evaluator, z, x)), repeats)  # type: ignore[misc]
        row[f"{name}_us"] = [round(1e6 * t / pairs, 2) for t in (min(times), float(np.median(times)))]
    row["plain_us"] = round(1e6 * _plain(evaluator, np.asarray(z), x, batch) / batch, 1)
    return row


def _repeat(work: Callable[[], Any], repeats: int) -> list[float]:
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return times


def _plain(evaluator: Regex, z: Any, x: Any, batch: int) -> float:
    """CPU seconds of plain Python for one regex of each observation."""
    optional, repeat, either = (float(c) for c in evaluator.chances)
    emissions = np.asarray(evaluator.emissions, np.float64).tolist()
    texts = [as_text(jax.tree.map(lambda a, i=i: a[i], x)) for i in range(batch)]
    trees = [tree_of(z[i, 0].tolist()) for i in range(batch)]
    start = time.process_time()
    for tree, strings in zip(trees, texts, strict=True):
        for s in strings:
            probability(tree, s, optional, repeat, either, emissions)
    return time.process_time() - start


def usefulness(tool: str, columns: list[Concept], count: int) -> dict[str, Any]:
    """What a tool makes of the columns from so many examples."""
    draw = random.Random(count)
    scores: dict[str, list[float]] = {"recall": [], "false_accept": [], "auroc": [], "length": [], "whole": []}
    seconds = []
    for i, column in enumerate(columns):
        own = [*column.train, *column.test, *column.more]
        examples, members = own[:count], own[max(count, 10) :][:MEMBERS]
        if len(examples) < count or not members:
            continue
        others = [c for j, c in enumerate(columns) if j != i]
        values = [draw.choice([*c.train, *c.test, *c.more]) for c in draw.sample(others, min(OTHERS, len(others)))]
        strangers = [v for v in values if v not in own]
        start = time.process_time()
        accepts, length, log_p = TOOLS[tool](examples)
        seconds.append(time.process_time() - start)
        good, bad = np.asarray(accepts(members)), np.asarray(accepts(strangers))
        scores["recall"].append(float(good.mean()))
        scores["whole"].append(float(good.all()))
        scores["false_accept"].append(float(bad.mean()))
        scores["length"].append(length)
        if log_p is not None:
            scores["auroc"].append(auroc(np.asarray(log_p(members)), np.asarray(log_p(strangers))))
    means = {k: round(float(np.mean(v)), 4) for k, v in scores.items() if v}
    balanced = (1 + np.array(scores["recall"]) - np.array(scores["false_accept"])) / 2
    means["balanced_accuracy"] = round(float(balanced.mean()), 4)
    means["balanced_error"] = round(float(balanced.std() / np.sqrt(len(balanced))), 4)
    return means | {"ms_median": round(1e3 * float(np.median(seconds)), 1), "columns": len(seconds)}


def auroc(good: np.ndarray, bad: np.ndarray) -> float:
    """The probability that a member scores above a stranger, ties counting a half."""
    above = (good[:, None] > bad[None, :]) + 0.5 * (good[:, None] == bad[None, :])
    return float(above.mean())


Made = tuple[Accept, float, Callable[[Sequence[str]], Any] | None]


def _ours(examples: list[str]) -> Made:
    found = explain_strings(examples)
    accepts: Accept = lambda values: found.accepts(values, None)  # noqa: E731, the fewest balanced errors
    return accepts, float(len(found.patterns[0].regex)), found.judge.evidence


def _by_regexes(patterns: list[str]) -> Made:
    compiled = [re.compile(p) for p in patterns]
    return (
        lambda values: [any(c.fullmatch(v) for c in compiled) for v in values],
        float(len("|".join(patterns))),
        None,
    )


def _rexpy(examples: list[str]) -> Made:
    from tdda import rexpy

    return _by_regexes(rexpy.extract(examples))


def _grex(examples: list[str]) -> Made:
    from grex import RegExpBuilder

    builder = RegExpBuilder.from_test_cases(examples).with_conversion_of_digits()
    return _by_regexes([builder.with_conversion_of_words().with_conversion_of_repetitions().build()])


def _regexmodel(examples: list[str]) -> Made:
    from regexmodel import NotFittedError, RegexModel

    try:
        return _by_regexes([RegexModel.fit(examples, count_thres=1).regex])
    except NotFittedError:
        return _by_regexes([])


def _templates(examples: list[str]) -> Made:
    """Every example as runs of classes; a value is accepted if it has the template of one of them."""
    runs = re.compile(r"[A-Z]+|[a-z]+|[0-9]+|.")

    def template(text: str) -> str:
        kinds = (("[A-Z]+", str.isupper), ("[a-z]+", str.islower), ("[0-9]+", str.isdigit))
        return "".join(next((k for k, is_kind in kinds if is_kind(r)), re.escape(r)) for r in runs.findall(text))

    return _by_regexes(sorted({template(e) for e in examples}))


TOOLS: dict[str, Callable[[list[str]], Made]] = {
    "wakesleep": _ours,
    "rexpy": _rexpy,
    "grex -d -w -r": _grex,
    "templates": _templates,
    "regexmodel": _regexmodel,
}
"""Each makes of examples a function that accepts values, the length of its pattern, and a score where it has one."""


if __name__ == "__main__":
    main()
