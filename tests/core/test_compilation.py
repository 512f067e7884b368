import os
import stat
import subprocess
import sys

import pytest

from wakesleep.core import compilation

SCRIPT = """
import jax
from wakesleep.core.compilation import keep_compiled
print(keep_compiled(), jax.config.jax_compilation_cache_dir)
"""


def run(cache, **environment):
    given = {**os.environ, "WAKESLEEP_CACHE": str(cache), **environment}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=given, check=True)
    return done.stdout.strip(), done.stderr


def test_the_cache_is_a_folder_that_only_the_user_can_write(tmp_path):
    open_to_all = tmp_path / "xla"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    said, _ = run(tmp_path)
    assert said == f"True {open_to_all}"
    assert stat.S_IMODE(open_to_all.stat().st_mode) == 0o700


def test_a_variable_turns_it_off(tmp_path):
    assert run(tmp_path, WAKESLEEP_NO_COMPILATION_CACHE="1")[0] == "False None"
    assert not (tmp_path / "xla").exists()


def test_a_folder_that_cannot_be_made_is_told_and_not_used(tmp_path):
    (tmp_path / "file").write_text("")
    said, warned = run(tmp_path / "file")
    assert said == "False None"
    assert "Compiled programs are not kept" in warned


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no user numbers")
def test_a_folder_of_another_user_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: -5)
    assert compilation._unsafe(tmp_path) == "it belongs to another user"


def test_what_runs_once_is_compiled_quickly_or_else_as_usual(monkeypatch):
    compilation._known_options.cache_clear()
    assert compilation._known_options() == compilation.QUICK_TO_COMPILE
    assert float(compilation.quick_jit(lambda a: a + 1)(2.0)) == 3.0
    monkeypatch.setattr(compilation, "QUICK_TO_COMPILE", {"xla_no_such_option": True})
    compilation._known_options.cache_clear()
    assert compilation._known_options() is None
    assert float(compilation.quick_jit(lambda a: a + 2)(2.0)) == 4.0
    compilation._known_options.cache_clear()
