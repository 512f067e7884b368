"""Compilation: compiled programs are kept on disk, and what runs once is compiled without optimisation."""

import os
import stat
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from wakesleep.core.folders import user_cache

OFF = "WAKESLEEP_NO_COMPILATION_CACHE"
LEAST_SECONDS = 0.3
"""What compiles quicker is not kept."""
QUICK_TO_COMPILE = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_use_fusion_emitters": False,
}
"""Options of XLA for a CPU that take a third of the usual time to compile, for code that runs once."""


def keep_compiled(folder: Path | None = None) -> bool:
    """Keeps compiled programs in a folder, by default `xla` in the user's cache; returns whether it does.

    Nothing is kept where the environment variable WAKESLEEP_NO_COMPILATION_CACHE is set, or where the folder is not
    safe: JAX runs what it finds there, so it must belong to the user and nobody else may write to it. A folder that
    was chosen in JAX before stays as it is.
    """
    if os.environ.get(OFF):
        return False
    if getattr(jax.config, "jax_compilation_cache_dir", None):
        return True
    folder = folder or user_cache() / "xla"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        problem = _unsafe(folder)
    except OSError as error:
        problem = f"it cannot be used ({error})"
    if problem:
        warnings.warn(f"Compiled programs are not kept in {folder}: {problem}; set {OFF}=1 for no cache.", stacklevel=2)
        return False
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", LEAST_SECONDS)
    return True


def _unsafe(folder: Path) -> str | None:
    """Why compiled programs must not be read from a folder; None where they may. Closes a folder of the user's own."""
    if not hasattr(os, "getuid"):  # Windows: the home folder is closed by its access list
        return None
    status = folder.stat()
    if status.st_uid != os.getuid():
        return "it belongs to another user"
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)
    return None


def quick_jit(function: Callable, **given: Any) -> Callable:
    """Returns a jitted function, with `QUICK_TO_COMPILE` where this version of XLA knows those options."""
    return jax.jit(function, compiler_options=_known_options(), **given)


@cache
def _known_options() -> Any:
    """Returns `QUICK_TO_COMPILE`, or None where the backend is no CPU or XLA does not know one of them."""
    if jax.default_backend() != "cpu":
        return None
    try:
        jax.jit(lambda: jnp.zeros(()), compiler_options=QUICK_TO_COMPILE)()
    except Exception:  # XLA's error for an unknown option has no type of its own
        return None
    return QUICK_TO_COMPILE
