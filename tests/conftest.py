"""What holds for every test: a home of its own, no network, nothing left running.

Attributes of the session: one cache folder, so that the GGUF starter is converted and numba's kernels are
compiled once; everything else (sessions, settings, log, HOME) is new for each test.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import leaks

_SESSION = Path(tempfile.mkdtemp(prefix="kiruviz-tests-"))
_CACHE = _SESSION / "cache"

# Before anything imports Qt, numba or matplotlib, and for the child processes that tests start.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["NUMBA_CACHE_DIR"] = str(_CACHE / "numba")
os.environ["MPLCONFIGDIR"] = str(_CACHE / "matplotlib")
os.environ["XDG_RUNTIME_DIR"] = str(_SESSION / "runtime")
# A child process that would reach for a package index or model hub finds a closed door at once.
for _name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
    os.environ[_name] = os.environ[_name.lower()] = "http://127.0.0.1:9"
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "localhost,127.0.0.1,::1"


def pytest_configure(config: pytest.Config) -> None:
    (_SESSION / "runtime").mkdir(mode=0o700, exist_ok=True)
    for name, value in _home(_SESSION / "session").items():
        os.environ[name] = value
    config.addinivalue_line("markers", "keeps_running: shares a window or runner with the module's other tests")
    config.addinivalue_line("markers", "qt: uses Qt without pytest-qt's fixtures")


def pytest_unconfigure() -> None:
    shutil.rmtree(_SESSION, ignore_errors=True)


def _home(folder: Path) -> dict[str, str]:
    """A new home in `folder` that shares the session's cache; the variables that lead there."""
    kiruviz = folder / "kiruviz"
    kiruviz.mkdir(parents=True)
    _CACHE.mkdir(exist_ok=True)
    (kiruviz / "cache").symlink_to(_CACHE, target_is_directory=True)
    return {
        "HOME": str(folder),
        "USERPROFILE": str(folder),
        "KIRUVIZ_HOME": str(kiruviz),
        "XDG_CACHE_HOME": str(folder / ".cache"),
        "XDG_CONFIG_HOME": str(folder / ".config"),
        "XDG_DATA_HOME": str(folder / ".local/share"),
        "XDG_STATE_HOME": str(folder / ".local/state"),
        "HF_HOME": str(folder / ".cache/huggingface"),
    }


@pytest.fixture(autouse=True)
def home(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder of the test's own, with `KIRUVIZ_HOME` in it; the cache is the session's."""
    folder = Path(tempfile.mkdtemp(prefix="home-", dir=_SESSION))
    for name, value in _home(folder).items():
        monkeypatch.setenv(name, value)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def session_cache() -> Path:
    """The cache folder that all tests share."""
    return _CACHE


@pytest.fixture
def own_cache(home: Path) -> Path:
    """A cache folder that is empty and the test's own, where the session's would get in the way."""
    cache = home / "kiruviz/cache"
    cache.unlink()
    cache.mkdir()
    return cache


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Refuse what goes beyond this computer, and fail at the end even if that was swallowed; what was refused."""
    refused: list[str] = []

    def refuse(what: object) -> None:
        refused.append(f"{what}")
        raise OSError(f"tests may not reach {what}")

    def guarded(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: socket.socket, address: Any, *rest: Any) -> Any:
            if not _stays_here(self.family, address):
                refuse(address)
            return original(self, address, *rest)

        return call

    def resolve(host: Any, *rest: Any, **named: Any) -> Any:
        if not _is_loopback(host):
            refuse(host)
        return getaddrinfo(host, *rest, **named)

    getaddrinfo = socket.getaddrinfo
    monkeypatch.setattr(socket.socket, "connect", guarded(socket.socket.connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(socket.socket.connect_ex))
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    yield refused
    if refused:
        pytest.fail(f"the test tried to reach the network: {', '.join(refused)}")


def _stays_here(family: int, address: Any) -> bool:
    if family not in (socket.AF_INET, socket.AF_INET6):
        return True
    return _is_loopback(address[0])


def _is_loopback(host: Any) -> bool:
    text = host.decode() if isinstance(host, bytes) else host
    return text in (None, "", "localhost", "::1", "0.0.0.0", "::") or str(text).startswith("127.")


@pytest.fixture(autouse=True)
def nothing_left(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail a test that leaves a child process, running QThread, active QTimer or top-level widget, and name it.

    Set up first of all function fixtures that take part, so that the others were torn down when it looks.
    """
    if request.node.get_closest_marker("keeps_running"):
        yield
        return
    uses_qt = {"qtbot", "qapp", "qtmodeltester"} & set(request.fixturenames)
    watch = leaks.Watch(monkeypatch, qt=bool(uses_qt or request.node.get_closest_marker("qt")))
    yield
    left = watch.left()
    if left:
        pytest.fail("left behind: " + "; ".join(left))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The quick tests first, the long ones and the program's own path last: what is wrong shows early."""
    items.sort(key=lambda item: ("end_to_end" in item.path.parts, item.get_closest_marker("slow") is not None))
