"""What several processes agree on. Alone, a process agrees with itself, and every function here costs nothing."""

import hashlib
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils

from wakesleep.core.model import Tree
from wakesleep.errors import Refusal

SENTENCE_BYTES = 4096


def primary() -> bool:
    """Whether this is the process that writes what is written once."""
    return jax.process_index() == 0


def several() -> bool:
    """Whether there are other processes."""
    return jax.process_count() > 1


def greatest(value: float) -> float:
    """The greatest of the values that the processes give."""
    return float(np.max(multihost_utils.process_allgather(np.float32(value)))) if several() else value


def any_says(value: bool) -> bool:
    """Whether any process gives true."""
    return greatest(float(value)) > 0


def meet(name: str) -> None:
    """Waits for all processes."""
    if several():
        multihost_utils.sync_global_devices(name)


def check_same(text: str, what: str) -> None:
    """Refuses processes whose texts differ; `what` names the texts in the refusal."""
    if several():
        digest = np.frombuffer(hashlib.sha256(text.encode()).digest(), np.uint32)
        if np.ptp(multihost_utils.process_allgather(digest), axis=0).any():
            raise Refusal(f"The processes of a run need the same {what}, but were given different ones.")


def by_primary(action: Callable[[], object]) -> None:
    """Runs an action in the primary process while the others wait; if it refuses, all refuse."""
    if not several():
        action()
        return
    sentence = ""
    if primary():
        try:
            action()
        except Refusal as refusal:
            sentence = str(refusal)
        except OSError as error:
            sentence = f"{error.filename or 'A file'} could not be used ({error.strerror or error})."
    words = np.zeros(SENTENCE_BYTES, np.uint8)
    said = sentence.encode()[:SENTENCE_BYTES]
    words[: len(said)] = np.frombuffer(said, np.uint8)
    heard = bytes(np.asarray(multihost_utils.broadcast_one_to_all(words))).rstrip(b"\0").decode(errors="replace")
    if heard:
        raise Refusal(heard)


def whole(tree: Tree) -> Tree:
    """Returns the tree with all of each array on one device of every process; every process must ask for it."""

    def gather(a: Any) -> Any:
        if not eqx.is_array(a):
            return a
        return jnp.asarray(multihost_utils.process_allgather(a, tiled=True) if several() else np.asarray(a))

    return jax.tree.map(gather, tree)
