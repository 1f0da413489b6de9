"""A window that the tests of one module share, in a home of the module's own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from kiruviz.ui.window import MainWindow
from tests.ui import driving


@pytest.fixture(scope="session")
def compiled(session_cache: Path) -> None:
    """UMAP's kernels are in the cache: no test waits for a compiler, which takes a minute."""
    code = "from kiruviz.progress import Silent; from kiruviz.tasks import maps; maps.warm_layout(Silent())"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(session_cache / "numba")}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


@pytest.fixture(scope="module")
def module_home(tmp_path_factory: pytest.TempPathFactory, session_cache: Path) -> Iterator[Path]:
    """A `KIRUVIZ_HOME` that lasts as long as the module's window; the cache is the session's."""
    folder = tmp_path_factory.mktemp("module-home")
    (folder / "cache").symlink_to(session_cache, target_is_directory=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIRUVIZ_HOME", str(folder))
        yield folder


@pytest.fixture(autouse=True)
def home_of_the_window(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that share a window live where it does: it finds its untitled session by that path."""
    if "module_home" in request.fixturenames:
        monkeypatch.setenv("KIRUVIZ_HOME", str(request.getfixturevalue("module_home")))


@pytest.fixture(scope="module")
def window(qapp: QApplication, module_home: Path, compiled: None) -> Iterator[MainWindow]:
    """The starter's map and clusters on screen."""
    made = driving.open_window()
    yield made
    driving.close_window(made)
