"""The keys of the actions: the defaults, those a person changed, and the texts that name them.

There is one keymap a process, since it belongs to the person and not to a window.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from PySide6.QtCore import QKeyCombination, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence

from kiruviz.ui.actions import ACTIONS, Action
from kiruviz.ui.settings import Settings

# Keys that mean the same everywhere and so belong to no action: what they do.
FIXED: Mapping[str, str] = {
    "Up": "moves through lists and clusters",
    "Down": "moves through lists and clusters",
    "Left": "moves the cursor",
    "Right": "moves the cursor",
    "PgUp": "moves through lists",
    "PgDown": "moves through lists",
    "Home": "moves through lists",
    "End": "moves through lists",
    "Return": "names a cluster, keeps a name, chooses",
    "Enter": "names a cluster, keeps a name, chooses",
    "Esc": "leaves what is open",
    "Tab": "goes to the next control",
    "Shift+Tab": "goes to the control before",
    "Space": "presses the control that has the focus",
    "Backspace": "deletes text",
    "Ctrl+A": "selects all rows or text",
    "Ctrl+C": "copies rows or text",
    "Ctrl+V": "pastes text",
    "Ctrl+X": "cuts text",
}


class Keymap(QObject):
    """Which key each action has now.

    changed() after any key changed; the actions and every text that names a key follow it.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._specs: dict[str, Action] = {spec.name: spec for spec in ACTIONS}
        self._own: dict[str, str] = {}
        self._settings: Settings | None = None

    def use(self, settings: Settings) -> None:
        """Take over the keys a person chose; entries that make no sense, or clash, leave the default in place."""
        self._settings = settings
        self._own = self._sensible(settings.own_keys())
        self.changed.emit()

    def key(self, name: str) -> str:
        """An action's key in Qt's portable notation, empty where it has none."""
        return self._own.get(name, self._specs[name].key)

    def shown(self, name: str) -> str:
        """An action's key as this system writes it."""
        return QKeySequence(self.key(name)).toString(QKeySequence.SequenceFormat.NativeText)

    def is_changed(self, name: str) -> bool:
        return name in self._own

    def default(self, name: str) -> str:
        return self._specs[name].key

    def holder(self, key: str, but: str = "") -> str | None:
        """The action that has `key`, other than `but`."""
        return next((n for n in self._specs if key and n != but and self.key(n) == key), None)

    def set_key(self, name: str, key: str) -> None:
        """Give an action a key (empty: none); an action that had it is left without."""
        holder = self.holder(key, but=name)
        if holder is not None:
            self._put(holder, "")
        self._put(name, key)
        self.changed.emit()

    def reset_all(self) -> None:
        """Every action has its default again."""
        for name in list(self._own):
            self._put(name, self._specs[name].key)
        self.changed.emit()

    def _put(self, name: str, key: str) -> None:
        if key == self._specs[name].key:
            self._own.pop(name, None)
        else:
            self._own[name] = key
        if self._settings is not None:
            self._settings.set_own_key(name, self._own.get(name))

    def _sensible(self, kept: Mapping[str, object]) -> dict[str, str]:
        """The entries that name an action and one key, and leave no two actions with the same key."""
        own: dict[str, str] = {}
        for name, value in kept.items():
            if name in self._specs and isinstance(value, str) and (key := _one_key(value)) is not None:
                own[name] = key
        while (clashing := self._clashing(own)) is not None:
            del own[clashing]
        return {name: key for name, key in own.items() if key != self._specs[name].key}

    def _clashing(self, own: Mapping[str, str]) -> str | None:
        """An entry of `own` whose key another action has too."""
        holders: dict[str, str] = {}
        for name, spec in self._specs.items():
            key = own.get(name, spec.key)
            if key and key in holders:
                return name if name in own else holders[key]
            holders[key] = name
        return None


def _one_key(text: str) -> str | None:
    """A key in portable notation, empty for none; None for what is no key, or one that is fixed."""
    if not text:
        return ""
    sequence = QKeySequence(text)
    key = sequence.toString(QKeySequence.SequenceFormat.PortableText)
    return key if sequence.count() == 1 and key and key not in FIXED else None


def key_pressed(event: QKeyEvent) -> str:
    """The key of an event in portable notation; empty while only Shift, Ctrl and the like are held."""
    key = Qt.Key(event.key())
    if key in _MODIFIERS or key == Qt.Key.Key_unknown:
        return ""
    if key == Qt.Key.Key_Backtab:
        key = Qt.Key.Key_Tab
    held = event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.GroupSwitchModifier)
    # The Shift that makes a sign such as ? is part of the sign.
    text = event.text()
    if text and text[0].isprintable() and not text[0].isalnum() and not text[0].isspace():
        held &= ~Qt.KeyboardModifier.ShiftModifier
    return QKeySequence(QKeyCombination(held, key)).toString(QKeySequence.SequenceFormat.PortableText)


_MODIFIERS = (
    Qt.Key.Key_Shift,
    Qt.Key.Key_Control,
    Qt.Key.Key_Alt,
    Qt.Key.Key_AltGr,
    Qt.Key.Key_Meta,
    Qt.Key.Key_Super_L,
    Qt.Key.Key_Super_R,
    Qt.Key.Key_CapsLock,
    Qt.Key.Key_NumLock,
)


@cache
def keymap() -> Keymap:
    """The keymap of this process."""
    return Keymap()


# Texts that name keys. All are made here, so that they follow the keys.


def tipped(text: str, action: str) -> str:
    """`text (Ctrl+E)`, or `text` alone where the action has no key."""
    key = keymap().shown(action)
    return f"{text} ({key})" if key else text


def how(action: str) -> str:
    """How to get at an action, for the middle of a sentence: `press Del`, or the way through the menu."""
    key = keymap().shown(action)
    spec = next(spec for spec in ACTIONS if spec.name == action)
    return f"press {key}" if key else f"choose {spec.menu} > {spec.title}"


def tip_with_key(part: QObject, text: str, action: str) -> None:
    """Give a widget or QAction the tooltip `text (key)`, which follows the action's key."""
    _KeyText(part, "toolTip", text, action, " ({})")


def text_with_key(part: QObject, text: str, action: str) -> None:
    """Let a button say `text  key`, which follows the action's key."""
    _KeyText(part, "text", text, action, "  {}")


def placeholder_with_key(part: QObject, text: str, action: str) -> None:
    """Let an empty field say `text    key`, which follows the action's key."""
    _KeyText(part, "placeholderText", text, action, "    {}")


class _KeyText(QObject):
    """Keeps one text of its parent true; it is gone with its parent."""

    def __init__(self, part: QObject, prop: str, text: str, action: str, form: str) -> None:
        super().__init__(part)
        self._prop, self._text, self._action, self._form = prop, text, action, form
        keymap().changed.connect(self._write)
        self._write()

    def _write(self) -> None:
        key = keymap().shown(self._action)
        part = self.parent()
        if part is not None:
            part.setProperty(self._prop, self._text + (self._form.format(key) if key else ""))
