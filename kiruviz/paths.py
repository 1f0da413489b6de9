"""Where things are: what ships with the program, and where its cache, data and settings live."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

_PACKAGE = Path(__file__).resolve().parent


def resource(*parts: str) -> Path:
    """A shipped file: inside the installed package, or beside it in a source checkout."""
    inside = _PACKAGE / "resources"
    root = inside if inside.is_dir() else _PACKAGE.parent / "resources"
    return root.joinpath(*parts)


def _made(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def cache_dir(*parts: str) -> Path:
    """The folder for what can be made again; `KIRUVIZ_HOME` moves this and the two below."""
    home = os.environ.get("KIRUVIZ_HOME")
    root = Path(home) / "cache" if home else Path(platformdirs.user_cache_dir("kiruviz", appauthor=False))
    return _made(root.joinpath(*parts))


def data_dir(*parts: str) -> Path:
    """The folder for what the person made: untitled sessions, the log."""
    home = os.environ.get("KIRUVIZ_HOME")
    root = Path(home) / "data" if home else Path(platformdirs.user_data_dir("kiruviz", appauthor=False))
    return _made(root.joinpath(*parts))


def config_dir() -> Path:
    """The folder for settings and window layout."""
    home = os.environ.get("KIRUVIZ_HOME")
    root = Path(home) / "config" if home else Path(platformdirs.user_config_dir("kiruviz", appauthor=False))
    return _made(root)
