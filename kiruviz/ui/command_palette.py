"""The command palette: everything the window can do, every cluster and every token, by typing a few letters."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QLineEdit, QWidget
from shiboken6 import isValid

from kiruviz.session.records import SpaceRecord
from kiruviz.space import display_name
from kiruviz.tasks.spaces import TokenPiece
from kiruviz.ui.finding import LongIndex
from kiruviz.ui.keys import key_pressed, keymap
from kiruviz.ui.palette_entries import Entry, Group, Shelf, action_entries, cluster_entries, row_entry, view_entries
from kiruviz.ui.palette_list import NOTHING, PaletteList, PaletteModel
from kiruviz.ui.widgets.basics import hairline, label

if TYPE_CHECKING:
    from kiruviz.ui.window import MainWindow

_ASK_AFTER_MS = 150
# How long one turn of the event loop may search among the rows.
_TURN = 0.02
_MOST = 60
_EDGE = 5  # within the rounded corners
_MOST_RECENT = 6
_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class PaletteField(QLineEdit):
    """moved(entries) and paged(pages) for the list below, chosen() on Enter, left() on Esc, focus_lost()."""

    moved = Signal(int)
    paged = Signal(int)
    chosen = Signal()
    left = Signal()
    focus_lost = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in _STEPS:
            self.moved.emit(_STEPS[key])
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            self.paged.emit(1 if key == Qt.Key.Key_PageDown else -1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.chosen.emit()
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.focus_lost.emit()


class CommandPalette(QWidget):
    """Opens over the window; Enter does what is selected, Esc closes it and gives the focus back.

    It is opaque, so that no letter makes Qt paint the map below it; its rounded edge is a frame of its own, under it.
    row_chosen(row) for a row on the map, token_chosen(token_id, text) for a token of the vocabulary.
    """

    row_chosen = Signal(int)
    token_chosen = Signal(int, str)

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._edge = QFrame(window)
        self._edge.setObjectName("card")
        self.setAccessibleName("Command palette")
        self._window = window
        self._former: QWidget | None = None
        self._recent: list[str] = [f"action:{name}" for name in window.settings.recent_actions]
        self._shelves: list[Shelf] = []
        self._record: SpaceRecord | None = None
        self._names = LongIndex(())
        self._searching: Iterator[tuple[list[tuple[int, int]], int]] = iter(())
        self._hits: tuple[list[tuple[int, int]], int] = ([], 0)
        self._tokens: tuple[str, tuple[TokenPiece, ...]] = ("", ())
        self._moved = False
        self._make_parts()
        self._ask = self._timer(_ASK_AFTER_MS, self._ask_tokens)
        self._indexing = self._timer(0, self._index_on)
        self._turn = self._timer(0, self._search_on)
        self._connect()
        self._edge.hide()
        self.hide()

    def _make_parts(self) -> None:
        self.field = PaletteField()
        self.field.setPlaceholderText("An action, a cluster, a view or a token")
        self.field.setAccessibleName("Command palette: an action, a cluster, a view or a token")
        self.field.setFrame(False)
        self.field.setStyleSheet("QLineEdit { border: none; background: transparent; padding: 8px 6px; }")
        self.model = PaletteModel()
        self.list = PaletteList(self.model, self)
        self.hint = label("", "small")
        self.hint.setContentsMargins(14, 0, 14, 0)
        self._lines = (hairline(), hairline())
        for part in (self.field, self.hint, *self._lines):
            part.setParent(self)
        self.field.setTextMargins(6, 0, 6, 0)

    def _timer(self, after: int, run: object) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(after)
        timer.timeout.connect(run)
        return timer

    def _connect(self) -> None:
        self.field.textChanged.connect(lambda _: self._typed())
        self.field.moved.connect(self._step)
        self.field.paged.connect(lambda pages: self._step(pages * self.list.page()))
        self.field.chosen.connect(lambda: self._run(self.list.current))
        self.field.left.connect(self.leave)
        self.field.focus_lost.connect(self.leave)
        self.list.run_wanted.connect(lambda row: self._run(self.model.entry(row)))
        self.list.selectionModel().currentChanged.connect(lambda *_: self._tell_current())
        self._window.conductor.tokens_found.connect(self._tokens_found)
        document = self._window.document
        for signal in (document.labels_changed, document.session_changed, document.space_changed):
            signal.connect(self._refresh)
        self._window.installEventFilter(self)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._watch)

    # Opening and leaving

    def toggle(self) -> None:
        if self.isVisible():
            self.leave()
        else:
            self.start()

    def start(self) -> None:
        """Open with everything listed, the last used first."""
        self._former = QApplication.focusWidget()
        self._tokens = ("", ())
        self._collect()
        self.list.look.theme = self._window.themes.theme
        self.field.clear()
        self._typed()
        self.place()
        for part in (self._edge, self):
            part.show()
            part.raise_()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def leave(self) -> None:
        """Close; the focus goes back to where it was, unless it has gone elsewhere already."""
        if not self.isVisible():
            return
        had_focus = self.field.hasFocus() or QApplication.focusWidget() is None
        for timer in (self._ask, self._turn, self._indexing):
            timer.stop()
        former, self._former = self._former, None
        if had_focus and former is not None and isValid(former) and former.isVisible():
            former.setFocus(Qt.FocusReason.PopupFocusReason)
        self._edge.hide()
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(event.rect(), QColor(self.list.look.theme.raised))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay the parts out by hand: a layout would lay out the whole window with every letter."""
        width, height = event.size().width(), event.size().height()
        top, bottom = 38, height - 28
        self.field.setGeometry(0, 0, width, top - 2)
        self._lines[0].setGeometry(0, top - 1, width, 1)
        self.list.setGeometry(0, top, width, bottom - top)
        self._lines[1].setGeometry(0, bottom, width, 1)
        self.hint.setGeometry(0, bottom + 4, width, 20)

    def place(self) -> None:
        """At the top, in the middle. Of one size while one types: so it stands still, and nothing below it has to
        be painted anew."""
        window = self._window
        width, height = min(620, window.width() - 48), min(560, int(window.height() * 0.7))
        edge = QRect((window.width() - width) // 2, 52, width, height)
        self._edge.setGeometry(edge)
        self.setGeometry(edge.adjusted(1, _EDGE, -1, -_EDGE))

    def _watch(self, before: QWidget | None, now: QWidget | None) -> None:
        """Stand before the control that has the focus: fields take Ctrl+K for deleting to the end of the line."""
        if before is not None and before is not self._window:
            before.removeEventFilter(self)
        if now is not None and now is not self._window and now.window() is self._window:
            now.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if key_pressed(event) == keymap().key("command_palette"):
                event.ignore()
                return True
        elif event.type() == QEvent.Type.Resize and self.isVisible():
            self.place()
        return super().eventFilter(watched, event)

    # What there is

    def _collect(self) -> None:
        """The actions, views and clusters of now; the rows are indexed in the event loop's next turns."""
        window = self._window
        labels, commands = window.document.labels, window.commands
        ground = window.themes.theme.ground
        clusters = cluster_entries(labels, ground, commands.go_to_cluster) if labels is not None else []
        self._shelves = [
            Shelf("ACTIONS", action_entries(window.menus, "command_palette")),
            Shelf("SAVED VIEWS", view_entries(commands.views.listed(), commands.views.go_to)),
            Shelf("CLUSTERS", clusters),
        ]
        if self._record is not window.document.record:
            self._record = window.document.record
            self._names = LongIndex(self._record.names if self._record is not None else ())
        self._indexing.start()

    def _index_on(self) -> None:
        if self._names.extend():
            self._indexing.start()
        elif self.field.text():
            self._search()

    def _refresh(self) -> None:
        """The document changed: what is listed is listed anew."""
        if self.isVisible():
            self._collect()
            self._search()

    # Searching

    def _typed(self) -> None:
        self._moved = False
        self._search()
        self._ask.start()

    def _search(self) -> None:
        self._hits = ([], 0)
        typed = self.field.text()
        self._searching = self._names.search(typed, _MOST) if typed else iter(())
        self._search_on()

    def _search_on(self) -> None:
        """Search the rows for one turn's time, show what was found, and go on in the next turn."""
        began = time.perf_counter()
        for hits in self._searching:
            self._hits = hits
            if time.perf_counter() - began > _TURN:
                self._turn.start()
                break
        self._show()

    def _show(self) -> None:
        """List what matches, the best group first, and stay on the entry that was gone to."""
        typed, kept = self.field.text(), self.list.current
        self.model.set_groups(self._found(typed) if typed else self._everything(), typed)
        keys = [entry.key if isinstance(entry, Entry) else "" for entry in self.model.rows]
        if self._moved and kept is not None and kept.key in keys:
            self.list.choose(keys.index(kept.key))
        else:
            self.list.choose_first(possible=not typed)
        self._tell_current()

    def _found(self, typed: str) -> list[Group]:
        groups = [shelf.find(typed, _MOST, self._recent) for shelf in self._shelves]
        groups.append(self._rows_found(typed))
        # Sorted by the tier alone, so that groups that match alike keep their order.
        ranked = sorted((g for g in groups if g.entries), key=lambda g: g.best >> 24)
        elsewhere = self._tokens_elsewhere()
        return [*ranked, elsewhere] if elsewhere.entries else ranked

    def _rows_found(self, typed: str) -> Group:
        record, labels = self._record, self._window.document.labels
        found, count = self._hits
        if record is None or record is not self._window.document.record or not found:
            return Group("ON THE MAP", (), 0)
        # Of names that match alike, those in the letters as they were typed.
        exact = typed.strip() or typed
        ranked = sorted(found, key=lambda hit: (hit[0], exact not in record.names[hit[1]], hit[1]))
        entries = [row_entry(record, labels, row, self.row_chosen.emit) for _, row in ranked]
        return Group("ON THE MAP", entries, count, found[0][0])

    def _everything(self) -> list[Group]:
        """Nothing is typed: what was used last, then all but the tokens."""
        by_key = {entry.key: entry for shelf in self._shelves for entry in shelf.entries}
        recent = [by_key[key] for key in self._recent if key in by_key and not by_key[key].blocked][:_MOST_RECENT]
        used = {entry.key for entry in recent}
        groups = [Group("USED LAST", recent, len(recent))]
        for shelf in self._shelves:
            rest = [entry for entry in shelf.entries if entry.key not in used]
            groups.append(Group(shelf.title, rest, len(rest)))
        return [group for group in groups if group.entries]

    # Tokens of the vocabulary

    def _ask_tokens(self) -> None:
        if self.field.text():
            self._window.conductor.ask_tokens(self.field.text())

    def _tokens_found(self, text: str, tokens: tuple[TokenPiece, ...]) -> None:
        """The tokens of what was typed; then those of it inside a sentence, after a space."""
        typed = self.field.text()
        if not self.isVisible() or text.lstrip(" ") != typed.lstrip(" ") or not typed:
            return
        if text == typed:
            self._tokens = (typed, tokens)
            if not typed.startswith(" "):
                self._window.conductor.ask_tokens(" " + typed)
        elif self._tokens[0] == typed:
            self._tokens = (typed, (*self._tokens[1], *tokens))
        self._show()

    def _tokens_elsewhere(self) -> Group:
        """Tokens of what was typed that are not among the rows on the map."""
        typed, tokens = self._tokens
        if typed != self.field.text() or self._record is None:
            return Group("ELSEWHERE IN THE VOCABULARY", (), 0)
        found = {t.token_id: t for t in tokens if not np.any(self._record.row_ids == t.token_id)}
        entries = [
            Entry(
                f"token:{token.token_id}",
                display_name(token.text),
                partial(self.token_chosen.emit, token.token_id, token.text),
                f"{token.token_id} · {token.kind} · its neighbours",
                exact=True,
            )
            for token in list(found.values())[:_MOST]
        ]
        return Group("ELSEWHERE IN THE VOCABULARY", entries, len(found))

    # Choosing

    def _step(self, step: int) -> None:
        self._moved = True
        self.list.step(step)

    def _tell_current(self) -> None:
        """What Enter would do, also to a screen reader, which hears only the field."""
        entry = self.list.current
        self.field.setAccessibleDescription(entry.spoken if entry is not None else NOTHING)
        rows = len(self._record.names) if self._record is not None else 0
        if entry is not None and entry.blocked:
            self.hint.setText(f"Not now: {entry.blocked}.")
        elif not self.field.text() and rows:
            self.hint.setText(f"Type to find one of {rows:,} tokens.    Enter runs, Esc closes")
        else:
            self.hint.setText("Enter runs, Esc closes")

    def _run(self, entry: Entry | None) -> None:
        """Close, and do what was chosen; what is not possible stays listed with its reason."""
        if entry is None or entry.blocked:
            return
        self.leave()
        self._recent = [entry.key, *(key for key in self._recent if key != entry.key)][: 4 * _MOST_RECENT]
        self._window.settings.recent_actions = [
            key.removeprefix("action:") for key in self._recent if key.startswith("action:")
        ][:_MOST_RECENT]
        entry.run()
