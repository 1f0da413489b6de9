"""`make run` and `make test` on a fresh machine: what the set-up says, asks, does and leaves alone."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")


def _script(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module(name)


@pytest.fixture
def setup(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return _script("setup", monkeypatch)


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return _script("setup_pip", monkeypatch)


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return _script("setup_system", monkeypatch)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files of the set-up in a folder of their own."""
    for name in ("Makefile", "constraints.txt", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def _make(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env={**environment, **variables},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def _pretend_ready(folder: Path) -> None:
    """A `.venv` whose Python prints its arguments."""
    python = folder / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "ran: $*"\n')
    python.chmod(0o755)
    (folder / ".venv/.ready-run").touch()


def test_a_second_make_run_starts_the_program_and_nothing_else(checkout: Path) -> None:
    _pretend_ready(checkout)
    began = time.monotonic()
    done = _make(checkout, "run", "ARGS=open some.kiru")
    assert time.monotonic() - began < 1
    assert done.stdout == "ran: -m kiruviz open some.kiru\n", done.stderr


@pytest.mark.parametrize("changed", ["constraints.txt", "pyproject.toml", "scripts/setup_pip.py"])
def test_a_change_of_what_is_installed_starts_the_setup(checkout: Path, changed: str) -> None:
    _pretend_ready(checkout)
    later = time.time() + 5
    os.utime(checkout / changed, (later, later))
    assert "scripts/setup.py" in _make(checkout, "-n", "run").stdout


def test_a_python_that_is_too_old_is_refused_in_one_sentence(checkout: Path) -> None:
    done = _make(checkout, "run", "PYTHON=false")
    assert done.returncode != 0
    assert done.stderr.splitlines()[0].startswith("KiruViz needs Python 3.11 or newer and false is not: ")
    assert not (checkout / ".venv").exists()


@pytest.mark.slow
def test_without_network_one_sentence_says_what_to_do_and_no_venv_is_left(checkout: Path) -> None:
    done = _make(
        checkout,
        "run",
        f"PYTHON={sys.executable}",
        PIP_CONFIG_FILE=os.devnull,
        PIP_FIND_LINKS="",
        PIP_RETRIES="1",
    )
    assert done.returncode != 0
    assert done.stderr.splitlines()[0].startswith("The packages could not be downloaded: see that this computer is on")
    assert "Traceback" not in done.stderr
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize(
    ("cuda", "largest"), [(False, "192 MB  torch (CPU build)"), (True, "3,000 MB  torch, with CUDA")]
)
def test_the_plan_says_each_size_and_the_sum(setup: ModuleType, cuda: bool, largest: str) -> None:
    text, disk = setup.plan(cuda=cuda, dev=True)
    sizes = [int(size.replace(",", "")) for size in re.findall(r"^ +([\d,]+) MB", text, re.MULTILINE)]
    assert sum(sizes[:-1]) == sizes[-1]
    assert disk > sizes[-1]
    assert largest in text
    assert ("PIP_EXTRA_INDEX_URL" in text) == cuda


@pytest.mark.parametrize(
    ("at_terminal", "yes", "answer", "goes_on"),
    [
        (False, False, None, True),
        (True, True, None, True),
        (True, False, "", True),
        (True, False, "y", True),
        (True, False, "n", False),
        (True, False, "what?", False),
    ],
)
def test_it_asks_once_and_only_a_person_at_the_terminal(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, at_terminal: bool, yes: bool, answer: str | None, goes_on: bool
) -> None:
    asked: list[str] = []

    def respond(question: str) -> str:
        asked.append(question)
        return answer or ""

    monkeypatch.setattr("builtins.input", respond)
    monkeypatch.setattr("sys.stdin.isatty", lambda: at_terminal, raising=False)
    assert setup.confirmed(yes) is goes_on
    assert len(asked) == (answer is not None)


def test_too_little_space_is_said_before_anything_is_made(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(setup, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(setup, "PYTHON", tmp_path / ".venv/bin/python")
    monkeypatch.setattr(setup.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 0, 10**9))
    with pytest.raises(setup.SetupError, match=r"has 1,000 MB free and about 2,\d\d\d MB are needed: free some space"):
        setup.set_up(dev=False, yes=True)
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("OSError: [Errno 28] No space left on device", "The disk is full: "),
        ("Failed to establish a new connection: [Errno -3] Temporary failure in name resolution", "could not be downl"),
        (
            "ERROR: No matching distribution found for numba==0.68.1",
            "The package numba==0.68.1 was not found for Python",
        ),
        ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]", "set PIP_CERT"),
        ("ERROR: Something new", "pip failed: Something new"),
        ("", "pip failed: no reason given"),
    ],
)
def test_each_failure_of_pip_becomes_one_sentence(pip: ModuleType, words: str, sentence: str) -> None:
    assert sentence in pip.explain(words)
    assert "\n" not in pip.explain(words)


def test_pip_installs_into_the_venv_whatever_the_persons_settings_say(
    pip: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PIP_USER", "PIP_TARGET", "PIP_PREFIX"):
        monkeypatch.setenv(name, "1")
    environment = pip.environment()
    assert environment["PIP_USER"] == "0"
    assert not {"PIP_TARGET", "PIP_PREFIX"} & environment.keys()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("  Downloading torch-2.13.0-cp312-cp312-manylinux_2_28_x86_64.whl (526.1 MB)\n", "torch 2.13.0, 526.1 MB"),
        ("  Using cached scipy-1.17.1-cp311-cp311-linux_x86_64.whl (35.3 MB)\n", "scipy 1.17.1, from the cache"),
        ("  Downloading tqdm-4.70.1-py3-none-any.whl (0.1 MB)\n", None),
        ("  Downloading torch-2.13.0-cp312-cp312-manylinux_2_28_x86_64.whl.metadata (28 kB)\n", None),
        ("Collecting numpy>=2.0\n", None),
    ],
)
def test_large_downloads_are_told(pip: ModuleType, line: str, said: str | None) -> None:
    assert pip._stage(line) == said


def test_missing_libraries_become_one_line_to_run(system: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system.sys, "platform", "linux")
    monkeypatch.setattr(system, "_WINDOW", {"libkiruviz-nowhere.so.7": "libnowhere7"})
    monkeypatch.setattr(system, "_IMPORT", {})
    monkeypatch.setattr(system, "_apt_get", lambda: None)
    monkeypatch.setattr(system.shutil, "which", lambda name: name if name in ("apt-get", "sudo") else None)
    text = system.provide(virtual_screen=True)
    assert text.splitlines()[-1].strip() == "sudo apt-get install libnowhere7"


def test_libraries_without_which_nothing_works_stop_the_setup(
    system: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system.sys, "platform", "linux")
    monkeypatch.setattr(system, "_IMPORT", {"libkiruviz-nowhere.so.7": "libnowhere7"})
    monkeypatch.setattr(system, "_apt_get", lambda: None)
    with pytest.raises(system.LibrariesMissingError, match="to install them, run"):
        system.provide(virtual_screen=False)


def test_missing_libraries_are_installed_where_apt_get_may_be_used(
    system: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed: list[str] = []
    monkeypatch.setattr(system.sys, "platform", "linux")
    monkeypatch.setattr(system, "_apt_install", lambda packages: installed.extend(packages) or True)
    monkeypatch.setattr(
        system, "missing", lambda known: [] if installed else [name for name in known if "xcb-cursor" in name]
    )
    assert system.provide(virtual_screen=False) == ""
    assert installed == ["libxcb-cursor0"]


def test_the_wheel_carries_the_resources(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    shipped = {
        f"kiruviz/resources/{path.relative_to(ROOT / 'resources').as_posix()}"
        for path in (ROOT / "resources").rglob("*")
        if path.is_file()
    }
    assert shipped
    assert shipped <= inside
    assert "kiruviz/space.py" in inside
    assert not any(name.startswith(("tests/", "scripts/")) for name in inside)
