"""Checkpoints, written by Orbax while training goes on, each process its own shards, whole or not at all.

A checkpoint is a folder named by its step with `state` (Orbax's), `memory` where memory rows are kept on the host,
and `digest.json`, against which every byte is checked before anything is read.
"""

import json
import re
import shutil
import threading
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.sharding import Mesh

from wakesleep.core import processes
from wakesleep.core.algorithms import State
from wakesleep.core.fit import data_mesh, is_shaped, shardings
from wakesleep.data import atomic as files
from wakesleep.data.documents import read_document
from wakesleep.errors import Refusal
from wakesleep.running import host_memory as hosted
from wakesleep.running.cluster import is_broken
from wakesleep.running.quiet import QuietThreads

CHECKPOINTS_KEPT = 3
DIGEST = "digest.json"
WRITE_SECONDS = 3600
"""The longest time that writing a checkpoint may take."""
STEP_DIGITS = 9
STEP_NAME = re.compile(rf"[0-9]{{{STEP_DIGITS}}}|[1-9][0-9]{{{STEP_DIGITS}}}")
REASON_LENGTH = 200
REASONS = (
    "No space left on device", "Disk quota exceeded", "File too large", "Permission denied", "Read-only file system",
    "Input/output error",
)  # fmt: skip


class Saver:
    """Writes checkpoints into a folder in the background, one at a time."""

    def __init__(self, folder: Path):
        from orbax.checkpoint import AsyncCheckpointer, PyTreeCheckpointHandler
        from orbax.checkpoint.options import AsyncOptions

        self.folder = folder
        self.error: BaseException | None = None
        self.step: int | None = None
        self.thread: threading.Thread | None = None
        self.orbax = AsyncCheckpointer(
            PyTreeCheckpointHandler(), async_options=AsyncOptions(timeout_secs=WRITE_SECONDS)
        )

    def __enter__(self) -> "Saver":
        self.quiet = QuietThreads()  # what goes wrong is told once, by `wait`
        self.quiet.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        failed = error
        try:
            self._leave(error)
        except BaseException as late:
            failed = late
            raise
        finally:
            self.quiet.__exit__(None, failed, None)

    def _leave(self, error: BaseException | None) -> None:
        """Waits for the checkpoint that was begun; of two errors, the one that ended training is told."""
        if error is None:
            self.wait()
            processes.meet("the last checkpoint is written")
            self.orbax.close()
        elif self.thread is not None and not is_broken(error):
            self.thread.join()

    def save(self, state: State) -> None:
        """Begins to write a checkpoint; the state may change as soon as this returns."""
        self.wait()
        step = int(np.max(state.step))
        final = self.folder / folder_name(step)
        if processes.any_says(final.exists()):
            return
        # All processes write to it, so its name is known; the run's lock and `mkdir` keep others out.
        unfinished = final.with_name(f".{final.name}{files.UNFINISHED_SUFFIX}")
        self.step = step
        try:
            processes.by_primary(lambda: _make_anew(unfinished))
            if state.memory is not None and hosted.is_hosted(state.memory):
                hosted.save(state.memory, unfinished / "memory")
                state = state._replace(memory=None)
            self.orbax.save((unfinished / "state").absolute(), named(state))
        except (OSError, ValueError, RuntimeError) as error:
            self._refuse(error)
        self.thread = threading.Thread(target=self._finish, args=(unfinished, final))
        self.thread.start()

    def _finish(self, unfinished: Path, final: Path) -> None:
        """Waits for the shards of all processes; the primary then publishes the checkpoint and removes an old one."""
        try:
            self.orbax.wait_until_finished()
            if processes.primary():
                files.write_whole(unfinished / DIGEST, json.dumps(files.digests(unfinished, DIGEST), indent=0))
                files.publish(unfinished, final)
                for old in steps_saved(self.folder)[:-CHECKPOINTS_KEPT]:
                    files.remove(self.folder / folder_name(old))
        except BaseException as error:
            self.error = error

    def wait(self) -> None:
        """Waits until the checkpoint that was begun is whole; refuses if it could not be written."""
        if self.thread is not None:
            self.thread.join()
            self.thread = None
        self.check()

    def check(self) -> None:
        """Refuses if the last checkpoint could not be written."""
        error, self.error = self.error, None
        if error is not None:
            self._refuse(error)

    def _refuse(self, error: BaseException) -> None:
        if isinstance(error, Refusal) or is_broken(error):
            raise error
        if processes.primary():
            files.sweep(self.folder)
        saved = steps_saved(self.folder)
        earlier = f"the one of step {saved[-1]} is intact" if saved else "there is no earlier one"
        raise Refusal(
            f"The checkpoint of step {self.step} could not be written to {self.folder} ({_reason(error)}); {earlier}: "
            "make room, then resume the run."
        ) from None


def steps_saved(folder: Path) -> list[int]:
    """Returns the steps that have checkpoints, in order."""
    try:
        return sorted(int(p.name) for p in folder.iterdir() if STEP_NAME.fullmatch(p.name) and p.is_dir())
    except OSError as error:
        raise Refusal(f"The folder of checkpoints {folder} cannot be read ({error.strerror}).") from None


def rewind(folder: Path, step: int) -> None:
    """Removes the checkpoints after a step, and what killed processes left."""
    for later in (s for s in steps_saved(folder) if s > step):
        files.remove(folder / folder_name(later))
    files.sweep(folder)


def find(folder: Path, step: int | None = None) -> Path:
    """Returns the checkpoint of a step, by default the last, after every byte was compared with its digest."""
    saved = steps_saved(folder)
    step = saved[-1] if step is None and saved else step
    if step not in saved:
        had = ", ".join(map(str, saved)) or "none"
        raise Refusal(f"{folder.parent} has no checkpoint of step {step}; it has {had}.")
    path = folder / folder_name(step)
    processes.by_primary(lambda: _check_digests(path, [s for s in saved if s < step]))
    return path


def restore(path: Path, like: State, mesh: Mesh | None = None, host: Path | None = None) -> State:
    """Returns the state that a checkpoint holds, on the mesh; `like` has its structure, with arrays or their shapes.

    The number of devices and processes that saved it does not matter. A memory that was kept on the host is copied to
    the folder `host`, or mapped for reading where none is given.
    """
    apart = (path / "memory").is_dir()
    arrays, static = eqx.partition(like._replace(memory=None) if apart else like, is_shaped)
    try:
        state: State = eqx.combine(_read(path, arrays, mesh or data_mesh(1)), static)
        if apart and like.memory is not None:
            saved = path / "memory"
            memory = hosted.copy(saved, host, like.memory) if host else hosted.attach(saved, like.memory)
            state = state._replace(memory=memory)
    except (Refusal, MemoryError):
        raise
    except Exception as error:  # what Orbax and NumPy raise for files that were not written by them
        if is_broken(error) or isinstance(error, OSError):
            raise
        raise Refusal(f"The checkpoint {path} cannot be read ({_reason(error)}).") from None
    return state


def _read(path: Path, arrays: State, mesh: Mesh) -> State:
    """Returns the arrays of a checkpoint; refuses those of another model."""
    from orbax.checkpoint import ArrayRestoreArgs, PyTreeCheckpointer

    folder = (path / "state").absolute()
    with QuietThreads(), PyTreeCheckpointer() as orbax:
        held = orbax.metadata(folder).item_metadata
        shapes = {name: (tuple(m.shape), np.dtype(m.dtype)) for name, m in held.items()}
        if shapes != {name: (a.shape, a.dtype) for name, a in named(arrays).items()}:
            raise Refusal(f"{path} does not fit the model that config.json describes: was config.json edited?")
        wanted = named(shardings(arrays, mesh))
        leaves = orbax.restore(folder, restore_args={k: ArrayRestoreArgs(sharding=v) for k, v in wanted.items()})
    restored: State = jax.tree.unflatten(jax.tree.structure(arrays), [leaves[name] for name in wanted])
    return restored


def named(state: State) -> dict[str, Any]:
    """Returns the leaves of a state that are arrays, shapes or shardings, by their paths in the state."""
    leaves = jax.tree_util.tree_leaves_with_path(
        eqx.filter(state, lambda a: is_shaped(a) or isinstance(a, jax.sharding.Sharding))
    )
    return {f"{i:03d}{jax.tree_util.keystr(path)}": leaf for i, (path, leaf) in enumerate(leaves)}


def folder_name(step: int) -> str:
    """Returns the name of the folder of a checkpoint."""
    return f"{step:0{STEP_DIGITS}d}"


def _make_anew(folder: Path) -> None:
    """Makes an empty folder in place of what a killed process left there; a link is never followed."""
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)
    folder.mkdir()


def _check_digests(path: Path, earlier: list[int]) -> None:
    """Refuses a checkpoint of which any byte differs from what was written."""
    try:
        written = read_document(path / DIGEST, "digests")
        # Until memory could be kept on the host, names were those within `state`.
        written = {n if n.startswith(("state/", "memory/")) else f"state/{n}": d for n, d in written.items()}
        whole = written == files.digests(path, DIGEST)
    except (Refusal, OSError, AttributeError):
        whole = False
    if not whole:
        offer = (
            f"an earlier one is at step {earlier[-1]} (--step {earlier[-1]})" if earlier else "there is no earlier one"
        )
        raise Refusal(f"The checkpoint {path} is damaged; {offer}.")


def _reason(error: BaseException) -> str:
    """Returns the reason of an error, without the paths and source lines that libraries add."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = str(error)
    return next(
        (w for w in REASONS if w.lower() in text.lower()), text.strip().split("\n", maxsplit=1)[0][:REASON_LENGTH]
    )
