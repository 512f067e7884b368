"""CPU seconds and peak memory of explaining one drawing, by the hand and by the bank, and what the bank's search gains.

    WAKESLEEP_DATA=... python benchmarks/characters_explain.py [--output results] [--scored 60]

Cold is a process from its start to its end, imports and reading included; first is one that finds nothing compiled.
Warm is a drawing after another. JAX is imported after all cold processes have run, since the peak of a process counts
that of its parent at the fork. The bits a pixel are of drawings of Omniglot that no table reports.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from wakesleep.data.atomic import write_whole
from wakesleep.domains.characters.drawings import read_image
from wakesleep.domains.characters.explain import HAND
from wakesleep.domains.characters.hand.explanation import explain_image
from wakesleep.domains.characters.hand.files import load

DRAWINGS = ("omniglot.png", "letter.png")
EXAMPLES = Path(__file__).parent.parent / "examples"
REPEATS = 3
OFF = "WAKESLEEP_NO_COMPILATION_CACHE"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results"))
    parser.add_argument("--scored", type=int, default=60, help="Drawings whose bits a pixel are measured.")
    options = parser.parse_args()
    rows = [cold(model, name) for model in ("hand", "bank") for name in DRAWINGS]
    rows = [row | {"warm_cpu_s": warm(row["model"], row["drawing"])} for row in rows]
    found = {"rows": rows, "repeats": REPEATS, "bank": bits(options.scored)}
    path = options.output / "benchmark-characters-explain.json"
    write_whole(path, json.dumps(found, indent=1) + "\n")
    print(path.read_text())


def cold(model: str, name: str) -> dict[str, Any]:
    """One row of processes: the median, and the greatest peak."""
    words = [sys.executable, "-m", "wakesleep", "explain", "characters", str(EXAMPLES / name), "--model", model]
    with TemporaryDirectory() as folder:
        ran = [process([*words, "--json"], {"WAKESLEEP_CACHE": folder}) for _ in range(REPEATS + 1)]
    row = {"first_cpu_s": round(ran[0][0], 2), "cold_cpu_s": round(statistics.median(s for s, _ in ran[1:]), 2)}
    return {"model": model, "drawing": name, **row, "mebibytes": max(mebibytes for _, mebibytes in ran)}


def warm(model: str, name: str) -> float:
    """The median CPU seconds of a drawing in this process."""
    explain, image = {"hand": by_hand, "bank": by_bank}[model](), read_image(EXAMPLES / name)
    explain(image)
    return round(statistics.median(cpu_seconds(partial(explain, image)) for _ in range(REPEATS)), 2)


def by_hand() -> Callable:
    """Explains an image by the hand."""
    return partial(explain_image, load(HAND))


def by_bank() -> Callable:
    """Explains an image by the bank."""
    import jax.numpy as jnp

    from wakesleep.core.model import Observations
    from wakesleep.domains import learned
    from wakesleep.domains.characters.domain import DOMAIN

    known = learned.shipped(DOMAIN)
    return lambda image: learned.search(known, Observations(jnp.asarray(image)[None]))


def process(words: list[str], environment: dict[str, str]) -> tuple[float, int]:
    """CPU seconds and peak memory in MiB of a process."""
    inherited = {name: value for name, value in os.environ.items() if name != OFF}
    child = subprocess.Popen(words, env=inherited | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        raise RuntimeError(f"{' '.join(words)} ended with status {status}.")
    child.returncode = 0
    return used.ru_utime + used.ru_stime, round(used.ru_maxrss / 1024)


def cpu_seconds(call: Callable) -> float:
    """CPU seconds of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def bits(count: int) -> dict[str, Any]:
    """Bits a pixel by the bank's memory, and CPU seconds of a drawing: by wake phases, and by the search."""
    from wakesleep.domains import learned
    from wakesleep.domains.characters import omniglot
    from wakesleep.domains.characters.domain import DOMAIN

    whole = omniglot.load()
    rows = omniglot.split(whole, 10, 0).tuning
    chosen = np.sort(np.random.default_rng(1).permutation(len(rows))[:count])
    images = whole.images([rows[i] for i in chosen])
    known = learned.shipped(DOMAIN)
    alone = known._replace(domain=replace(DOMAIN, explainer=None))
    return {"drawings": count} | {name: _bits(k, images) for name, k in (("wake phases", alone), ("search", known))}


def _bits(known: Any, images: Any) -> dict[str, Any]:
    import jax.numpy as jnp

    from wakesleep.core.memory import bound
    from wakesleep.core.model import Observations, score
    from wakesleep.domains import learned
    from wakesleep.paper.characters_hand import NATS_TO_BITS_PER_PIXEL

    images = jnp.asarray(images)
    nats, seconds, strokes = [], [], []
    learned.search(known, Observations(images[:1]))
    for i in range(len(images)):
        one, start = Observations(images[i : i + 1]), time.process_time()
        programs = np.asarray(learned.search(known, one).programs)
        seconds.append(time.process_time() - start)
        nats.append(float(bound(score(known.model, jnp.asarray(programs), one.x, None))[0]))
        strokes.append(int(np.sum(programs[0, 0] > 0)))
    pixels = -np.array(nats) * NATS_TO_BITS_PER_PIXEL
    spread = {"standard_error": round(float(pixels.std(ddof=1) / np.sqrt(len(pixels))), 4)}
    spent = {"cpu_s": round(statistics.median(seconds), 2), "greatest_cpu_s": round(max(seconds), 2)}
    return {"bits": round(float(pixels.mean()), 4), **spread, **spent, "strokes": round(float(np.mean(strokes)), 1)}


if __name__ == "__main__":
    main()
