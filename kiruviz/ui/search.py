"""The search field: finds words on the map, and shows the tokens of any text."""

from __future__ import annotations

from functools import partial

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QPushButton, QVBoxLayout, QWidget

from kiruviz.space import display_name
from kiruviz.tasks.spaces import TokenPiece
from kiruviz.ui.conductor import Conductor
from kiruviz.ui.document import Document
from kiruviz.ui.keys import placeholder_with_key
from kiruviz.ui.widgets.basics import button, label, plain_caption

_TYPING_MS = 120
_MOST_TOKENS = 12


class Search(QLineEdit):
    """Type any text: rows that contain it are lit, its tokens listed.

    lit(rows) whenever the matches change, chosen(row) on Enter, token_chosen(token_id, text) on a click on one
    of the tokens.
    """

    lit = Signal(object)
    chosen = Signal(int)
    token_chosen = Signal(int, str)

    def __init__(self, document: Document, conductor: Conductor) -> None:
        super().__init__()
        self._document = document
        self._conductor = conductor
        self.matches = np.zeros(0, np.int64)
        self._at = -1
        placeholder_with_key(self, "Find a token, or type any text", "find")
        self.setAccessibleName("Find a token, or type any text")
        self.setClearButtonEnabled(True)
        self.setFixedWidth(280)
        self.popup = TokensPopup(self)
        self.popup.token_chosen.connect(self.token_chosen)
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        self._typing.timeout.connect(self._look_up)
        self.textChanged.connect(lambda _: self._typing.start())
        conductor.tokens_found.connect(self._show_tokens)
        document.space_changed.connect(self._look_up)

    def start(self) -> None:
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()

    def leave(self) -> None:
        """Empty the field and put the map back."""
        self.clear()
        self.popup.hide()
        self._look_up()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
            self.clearFocus()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._look_up()
            self._go(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        else:
            super().keyPressEvent(event)

    def _look_up(self) -> None:
        self._typing.stop()
        text, record = self.text(), self._document.record
        if not text or record is None:
            self.matches = np.zeros(0, np.int64)
            self.popup.hide()
        else:
            self.matches = find_rows(record.names, text)
            self.popup.show_matches(len(self.matches), len(record))
            self._conductor.ask_tokens(text)
        self._at = -1
        self.lit.emit(self.matches)

    def _go(self, step: int) -> None:
        if not len(self.matches):
            return
        self._at = (self._at + step) % len(self.matches) if self._at >= 0 else 0
        self.chosen.emit(int(self.matches[self._at]))

    def _show_tokens(self, text: str, tokens: tuple[TokenPiece, ...]) -> None:
        record = self._document.record
        if text != self.text() or record is None or not self.hasFocus():
            return
        self.popup.show_tokens(tokens)
        if not len(self.matches):
            ids = [token.token_id for token in tokens]
            self.matches = np.flatnonzero(np.isin(record.row_ids, ids))
            self.lit.emit(self.matches)


def find_rows(names: tuple[str, ...], text: str) -> np.ndarray:
    """Positions of the names that contain `text`, whole ones first, then beginnings, then the rest.

    Case counts only where `text` has capitals.
    """
    wanted = text.strip() or text
    fold = wanted == wanted.lower()
    ranked = []
    for position, name in enumerate(names):
        shown = name.lower() if fold else name
        at = shown.find(wanted)
        if at >= 0:
            bare = shown.strip()
            ranked.append((0 if bare == wanted else 1 if bare.startswith(wanted) else 2, position))
    return np.array([position for _, position in sorted(ranked)], np.int64)


class TokensPopup(QFrame):
    """Below the search field: how many rows match, and the tokens of the text with their ids."""

    token_chosen = Signal(int, str)

    def __init__(self, field: QLineEdit) -> None:
        super().__init__(field.window())
        self.setObjectName("card")
        self._field = field
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(12, 10, 12, 10)
        self._box.setSpacing(4)
        self._matches = label("", "small")
        self._heading = label("AS TOKENS", "section")
        self._tokens = QWidget()
        self._list = QVBoxLayout(self._tokens)
        self._list.setContentsMargins(0, 0, 0, 0)
        self._list.setSpacing(2)
        for part in (self._matches, self._heading, self._tokens):
            self._box.addWidget(part)
        field.installEventFilter(self)
        self.hide()

    @property
    def lines(self) -> list[str]:
        """The tokens that are listed, as they are shown."""
        parts = (item.widget() for i in range(self._list.count()) if (item := self._list.itemAt(i)) is not None)
        return [part.text().replace("&&", "&") for part in parts if isinstance(part, QPushButton)]

    def show_matches(self, count: int, rows: int) -> None:
        noun = "rows contains" if count == 1 else "rows contain"
        self._matches.setText(f"{count:,} of {rows:,} {noun} it" + (" · Enter goes there" if count else ""))
        if not self.isVisible():
            self._heading.hide()
            self._tokens.hide()
        self._place()

    def show_tokens(self, tokens: tuple[TokenPiece, ...]) -> None:
        while (item := self._list.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for token in tokens[:_MOST_TOKENS]:
            text = f"{display_name(token.text)}    {token.token_id}    {token.kind}"
            choose = partial(self.token_chosen.emit, token.token_id, token.text)
            link = button(plain_caption(text), choose, "link", "Show neighbours")
            link.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            self._list.addWidget(link)
        if len(tokens) > _MOST_TOKENS:
            self._list.addWidget(label(f"and {len(tokens) - _MOST_TOKENS} more", "small"))
        noun = "1 TOKEN" if len(tokens) == 1 else f"{len(tokens)} TOKENS"
        self._heading.setText(f"AS {noun}")
        self._heading.setVisible(bool(tokens))
        self._tokens.setVisible(bool(tokens))
        self._place()

    def _place(self) -> None:
        window = self._field.window()
        if self.parentWidget() is not window:
            self.setParent(window)
        self.setFixedWidth(self._field.width())
        self.show()
        self.raise_()
        self.adjustSize()
        self.move(self._field.mapTo(window, QPoint(0, self._field.height() + 4)))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            self.hide()
        return super().eventFilter(watched, event)
