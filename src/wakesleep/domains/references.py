"""A domain by a reference: `package.module:NAME` or `path/to/file.py:NAME`, whose code is run.

Code is run only for a reference that the user gave. A reference that stands in a run directory, which a stranger may
have written, is followed only if the user gave the same one, of the same content, before.
"""

import hashlib
import importlib
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from wakesleep.core.folders import user_cache
from wakesleep.errors import Refusal

REFERENCE_FORMS = "package.module:NAME or path/to/file.py:NAME"


def load(reference: str, given: bool) -> Any:
    """Returns the object that a reference names; `given` says whether the user gave the reference just now."""
    where, _, name = reference.rpartition(":")
    if not where or not name.isidentifier():
        raise Refusal(f"A domain of your own is named as {REFERENCE_FORMS}, but {reference!r} was given.")
    origin = _origin(where, reference)
    if given:
        _remember(reference, origin)
    elif not _is_known(reference, origin):
        raise Refusal(
            f"The run's domain {reference} is code that you have not named before, or that has changed since: to run "
            f"it, name it yourself with --domain {reference} ."
        )
    module = _import_file(origin) if where.endswith(".py") else _import_module(where, reference)
    if not hasattr(module, name):
        raise Refusal(f"{where} has no {name}, which {reference!r} asks for.")
    return getattr(module, name)


def absolute(reference: str) -> str:
    """Returns the reference with the path of its file, if it has one, made absolute."""
    where, _, name = reference.rpartition(":")
    return f"{Path(where).resolve()}:{name}" if where.endswith(".py") else reference


def _origin(where: str, reference: str) -> Path:
    """Returns the file whose code would be run, found without running any of it."""
    if where.endswith(".py"):
        if not (path := Path(where)).is_file():
            raise Refusal(f"The domain {reference} is missing: {where} is not a file.")
        return path.resolve()
    here, package = str(Path.cwd()), where.partition(".")[0]
    if here not in sys.path:
        sys.path.insert(0, here)
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise Refusal(f"The domain {reference} is missing: there is no package {package!r} to import.")
    return Path(spec.origin).resolve()


def _import_module(name: str, reference: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise Refusal(f"The domain {reference} is missing: {error}.") from None


def _import_file(path: Path) -> ModuleType:
    name = f"wakesleep_domain_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.path.remove(str(path.parent))
    return module


def _known_file() -> Path:
    return user_cache() / "domains.json"


def _known() -> dict[str, str]:
    try:
        found = json.loads(_known_file().read_text())
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        return {}


def _fingerprint(origin: Path) -> str:
    return f"{origin} {hashlib.sha256(origin.read_bytes()).hexdigest()}"


def _remember(reference: str, origin: Path) -> None:
    known, print_ = _known(), _fingerprint(origin)
    if known.get(absolute(reference)) != print_:
        file = _known_file()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(known | {absolute(reference): print_}, indent=0))


def _is_known(reference: str, origin: Path) -> bool:
    return _known().get(absolute(reference)) == _fingerprint(origin)
