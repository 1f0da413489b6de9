"""A small list to choose one thing from by typing: it stands over its parent until something is chosen."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QIcon, QKeyEvent, QPainter, QPixmap
from PySide6.QtWidgets import QFrame, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from kiruviz.ui.widgets.basics import label, plain_tip

_MARGIN = 8
_ROW = 26
_ROWS = 8


class Picker(QFrame):
    """Type to filter, arrows to move, Enter takes, Esc leaves.

    chosen(value) when one was taken; left() when nothing was.
    """

    chosen = Signal(object)
    left = Signal()

    def __init__(self, parent: QWidget, name: str) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self._items: list[tuple[object, str, QIcon | None]] = []
        self.title = label("", "small")
        self.field = _Field()
        self.field.setPlaceholderText("Type to filter")
        self.field.setAccessibleName(name)
        self.list = QListWidget()
        self.list.setAccessibleName(f"{name}: what there is to choose from")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setUniformItemSizes(True)
        self._box = box = QVBoxLayout(self)
        box.setContentsMargins(10, 8, 10, 8)
        box.setSpacing(6)
        for part in (self.title, self.field, self.list):
            box.addWidget(part)
        self.field.textChanged.connect(self._fill)
        self.field.stepped.connect(self._step)
        self.field.taken.connect(self._take)
        self.field.left.connect(self._leave)
        self.field.gone.connect(self.hide)
        self.list.itemClicked.connect(lambda _: self._take())
        self.hide()

    def open(self, title: str, items: Sequence[tuple[object, str, QIcon | None]]) -> None:
        """Show (value, caption, icon) to choose from."""
        self._items = list(items)
        self.title.setText(title)
        self.field.clear()
        self._fill("")
        self.place()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def place(self) -> None:
        """At the foot of the parent, as wide as it."""
        parent = self.parentWidget()
        assert parent is not None
        rows = min(max(len(self._items), 1), _ROWS)
        height = min(self._box.minimumSize().height() - self.list.minimumSizeHint().height() + rows * _ROW + 8,
                     parent.height() - 2 * _MARGIN)  # fmt: skip
        self.setGeometry(_MARGIN, parent.height() - height - _MARGIN, parent.width() - 2 * _MARGIN, height)

    def captions(self) -> list[str]:
        """What is listed now."""
        return [self.list.item(i).text() for i in range(self.list.count())]

    def _fill(self, typed: str) -> None:
        wanted = typed.strip().casefold()
        self.list.clear()
        for value, caption, icon in self._items:
            if wanted in caption.casefold():
                item = QListWidgetItem(caption)
                item.setData(Qt.ItemDataRole.UserRole, value)
                item.setToolTip(plain_tip(caption))
                if icon is not None:
                    item.setIcon(icon)
                self.list.addItem(item)
        self.list.setCurrentRow(0)

    def _step(self, step: int) -> None:
        count = self.list.count()
        if count:
            self.list.setCurrentRow((self.list.currentRow() + step) % count)

    def _take(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            value = item.data(Qt.ItemDataRole.UserRole)
            self.hide()
            self.chosen.emit(value)

    def _leave(self) -> None:
        self.hide()
        self.left.emit()


class _Field(QLineEdit):
    """stepped(±1), taken(), left() by key; gone() when the focus went elsewhere."""

    stepped = Signal(int)
    taken = Signal()
    left = Signal()
    gone = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.stepped.emit(-1 if key == Qt.Key.Key_Up else 1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.taken.emit()
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() not in (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason):
            self.gone.emit()


def disc(color: str) -> QIcon:
    """A cluster's swatch, as the table of clusters has it."""
    pixmap = QPixmap(28, 28)
    pixmap.setDevicePixelRatio(2)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(color))
    painter.drawEllipse(2, 2, 9, 9)
    painter.end()
    return QIcon(pixmap)
