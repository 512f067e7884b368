"""Runs a function of a page's script in Node, where Node is present."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import wakesleep

SOURCE = Path(wakesleep.__file__).parent / "domains"
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="the scripts of pages are run by Node, which is not installed")


def call(script, function, *given):
    """Returns what a function exported by a script answers, as JSON."""
    code = (
        f"import {{ {function} as f }} from {json.dumps((SOURCE / script).as_uri())};"
        f"process.stdout.write(JSON.stringify(f(...{json.dumps(given)})));"
    )
    done = subprocess.run([NODE, "--input-type=module", "-e", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
