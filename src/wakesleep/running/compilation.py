"""The cache of compiled programs."""

import jax

from wakesleep.data.downloads import cache

LEAST_COMPILE_SECONDS = 0.3
"""Programs that compile faster than this are not kept."""


def cache_compilation() -> None:
    """Keeps compiled programs in the user's cache folder, so that a second start is quick."""
    jax.config.update("jax_compilation_cache_dir", str(cache() / "xla"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", LEAST_COMPILE_SECONDS)
