"""Shapes and types of the library are checked at run time in every test."""

import ctypes
import gc
import os
import sys
from pathlib import Path

os.environ.setdefault("WAKESLEEP_CACHE", str(Path.home() / ".cache" / "wakesleep"))
# Most of what tests compile runs once, on tiny shapes; without optimisation it compiles in a third of the time.
QUICK_TO_COMPILE = (
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true --xla_cpu_use_fusion_emitters=false"
)
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {QUICK_TO_COMPILE}".strip()

from jaxtyping import install_import_hook

install_import_hook("wakesleep", "beartype.beartype")

import jax
import pytest

from tests.toy import toy_data, toy_model

MOST_RESIDENT_BYTES = 1_400_000_000

jax.config.update("jax_compilation_cache_dir", os.environ["WAKESLEEP_CACHE"] + "/xla")
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
jax.config.update("jax_numpy_rank_promotion", "raise")


@pytest.fixture(scope="session")
def toy():
    """A model of which everything can be enumerated, and data for it."""
    return toy_model(jax.random.key(0)), toy_data(jax.random.key(1))


def forget():
    """Drops what was compiled, and gives the memory back."""
    jax.clear_caches()
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)


def resident_bytes():
    """The memory that this process holds; zero where the system does not tell."""
    told = Path("/proc/self/statm")
    return int(told.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if told.exists() else 0


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown():
    """Drops what was compiled once it takes gigabytes."""
    if resident_bytes() > MOST_RESIDENT_BYTES:
        forget()


@pytest.fixture(autouse=True, scope="module")
def forget_compiled():
    """Drops what a module's tests compiled, which no other module needs."""
    yield
    forget()
