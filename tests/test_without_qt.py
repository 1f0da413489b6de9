"""Which rooms may import what, tried in fresh processes rather than read from the source.

import-linter reads import statements; this catches what comes in by way of another package as well.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
QT = ("PySide6", "shiboken6", "pyqtgraph")
HEAVY = (
    *("torch", "transformers", "accelerate", "umap", "evoc", "pynndescent", "sklearn", "numba", "llvmlite"),
    *("matplotlib", "scipy", "pyarrow", "tokenizers", "wordfreq", "gguf"),
)
WITHOUT_QT = ("space", "errors", "progress", "palette", "paths", "analysis", "models", "session", "figures", "tasks")
OF_THE_WINDOW = ("space", "errors", "progress", "palette", "paths", "session", "jobs", "ui", "cli")

# Imports every module of the rooms one by one and tells, for each unwanted package, the first module that brought it.
# `block` makes importing one of them fail, as on a machine without it.
_PROGRAM = """
import importlib, importlib.abc, json, pkgutil, sys
rooms, unwanted, block = json.loads(sys.argv[1])

class Blocker(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in unwanted:
            raise ModuleNotFoundError(f"{name} is blocked", name=name)

if block:
    sys.meta_path.insert(0, Blocker())
imported, brought, failed = [], {}, {}
for room in rooms:
    names = [f"kiruviz.{room}"]
    while names:
        name = names.pop(0)
        if name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name == name == f"kiruviz.{room}":
                break  # a room that is not built yet
            failed[name] = str(error)
            continue
        except Exception as error:
            failed[name] = f"{type(error).__name__}: {error}"
            continue
        imported.append(name)
        for package in unwanted:
            if package in sys.modules:
                brought.setdefault(package, name)
        if hasattr(module, "__path__"):
            names += [f"{name}.{found.name}" for found in pkgutil.iter_modules(module.__path__)]
print(json.dumps([imported, brought, failed]))
"""


def _import_all(rooms: tuple[str, ...], unwanted: tuple[str, ...], *, block: bool) -> tuple[Any, Any, Any]:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, json.dumps([rooms, unwanted, block])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    imported, brought, failed = json.loads(done.stdout.splitlines()[-1])
    return imported, brought, failed


def test_the_rooms_below_jobs_work_where_qt_is_not_installed() -> None:
    imported, brought, failed = _import_all(WITHOUT_QT, QT, block=True)
    assert failed == {}
    assert brought == {}
    assert {"kiruviz.space", "kiruviz.analysis", "kiruviz.tasks"} <= set(imported)


def test_the_windows_process_imports_no_heavy_library() -> None:
    imported, brought, failed = _import_all(OF_THE_WINDOW, HEAVY, block=False)
    assert failed == {}
    assert brought == {}, "package: the module that brought it"
    assert {"kiruviz.jobs", "kiruviz.ui"} <= set(imported)


def test_the_windows_process_works_where_heavy_libraries_would_not_import() -> None:
    """Not even inside a try: with the libraries blocked the same modules import."""
    _, _, failed = _import_all(OF_THE_WINDOW, HEAVY, block=True)
    assert failed == {}


@pytest.mark.parametrize("room", ["analysis", "models", "session", "figures", "tasks"])
def test_importing_a_room_is_cheap(room: str) -> None:
    """The helper and the command line decide when a heavy library is loaded: not by importing a room."""
    _, brought, failed = _import_all((room,), HEAVY, block=False)
    assert failed == {}
    assert brought == {}, "package: the module that brought it"
