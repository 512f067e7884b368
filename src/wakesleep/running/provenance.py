"""Which source the package is: the commit it was installed from, or that of the checkout it lies in."""

import json
import subprocess
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import wakesleep

GIT_SECONDS = 10


def source_commit() -> str:
    """Returns the commit of the package's source, `+changes` where files differ; empty where it is unknown."""
    return _of_checkout(Path(wakesleep.__file__).resolve().parent) or _of_installation()


def _of_checkout(package: Path) -> str:
    """Returns the commit of the repository that holds the package under src/."""
    root = package.parents[1]
    if not (root / ".git").exists() or package.parent.name != "src":
        return ""
    commit = _git(root, "rev-parse", "HEAD")
    return f"{commit}+changes" if commit and _git(root, "status", "--porcelain", "--", "src") else commit


def _git(root: Path, *words: str) -> str:
    """Returns what Git prints; empty where it fails or is not installed."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words], capture_output=True, text=True, check=False, timeout=GIT_SECONDS
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _of_installation() -> str:
    """Returns the commit that pip recorded when it installed the package from a repository."""
    try:
        text = distribution("wakesleep").read_text("direct_url.json")
        found: Any = json.loads(text or "{}")
    except (PackageNotFoundError, OSError, ValueError):
        return ""
    info = found.get("vcs_info") if isinstance(found, dict) else None
    return str(info.get("commit_id", "")) if isinstance(info, dict) else ""
