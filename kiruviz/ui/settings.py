"""What is kept between starts: theme, layout, recent files."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from PySide6.QtCore import QByteArray, QSettings

from kiruviz.paths import config_dir
from kiruviz.ui.theme import ThemeChoice

_MOST_RECENT = 8
_KEYS = "shortcuts"
_RECENT_ACTIONS = "recent_actions"


class Settings:
    """The settings file of one user."""

    def __init__(self) -> None:
        self._store = QSettings(str(config_dir() / "settings.ini"), QSettings.Format.IniFormat)

    @property
    def theme(self) -> ThemeChoice:
        value = self._store.value("theme", "system")
        return value if value in ("system", "dark", "light") else "system"

    @theme.setter
    def theme(self, choice: ThemeChoice) -> None:
        self._store.setValue("theme", choice)

    def layout(self) -> tuple[QByteArray, QByteArray] | None:
        """Window geometry and dock state, if they were kept."""
        geometry, state = self._store.value("geometry"), self._store.value("state")
        if isinstance(geometry, QByteArray) and isinstance(state, QByteArray):
            return geometry, state
        return None

    def keep_layout(self, geometry: QByteArray, state: QByteArray) -> None:
        self._store.setValue("geometry", geometry)
        self._store.setValue("state", state)
        self._store.sync()

    @property
    def recent_actions(self) -> list[str]:
        """The actions used last from the command palette, the latest first."""
        value = self._store.value(_RECENT_ACTIONS, [])
        listed = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        return [name for name in listed if isinstance(name, str)]

    @recent_actions.setter
    def recent_actions(self, names: list[str]) -> None:
        self._store.setValue(_RECENT_ACTIONS, names)

    def own_keys(self) -> dict[str, object]:
        """Action -> the key a person gave it, as the file has it: it may hold anything."""
        self._store.beginGroup(_KEYS)
        kept = {name: self._store.value(name) for name in self._store.childKeys()}
        self._store.endGroup()
        return kept

    def set_own_key(self, action: str, key: str | None) -> None:
        """Keep the key of an action (empty: it has none); None goes back to the default."""
        if key is None:
            self._store.remove(f"{_KEYS}/{action}")
        else:
            self._store.setValue(f"{_KEYS}/{action}", key)

    @property
    def recent(self) -> list[str]:
        """Sessions and model folders, the latest first; those that are gone are left out."""
        value = self._store.value("recent", [])
        listed = [value] if isinstance(value, str) else list(cast(list[str], value or []))
        return [path for path in listed if Path(path).exists()]

    def add_recent(self, path: str) -> None:
        listed = [path, *(other for other in self.recent if other != path)]
        self._store.setValue("recent", listed[:_MOST_RECENT])
