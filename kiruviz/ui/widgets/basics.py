"""Small parts that every pane is built from."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)


def label(text: str, role: str = "", wrap: bool = False, selectable: bool = False) -> QLabel:
    """A text in one of the style sheet's roles; plain text always, whatever a token holds."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    if role:
        made.setProperty("role", role)
    made.setWordWrap(wrap)
    if selectable:
        made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return made


def plain_tip(text: str) -> str:
    """`text` for a tooltip, shown as written: Qt would take a token such as `<b>` for markup."""
    return f"<qt>{html.escape(text).replace(chr(10), '<br>')}</qt>" if text else ""


def plain_caption(text: str) -> str:
    """`text` for a button or menu, where a lone & would mark a key."""
    return text.replace("&", "&&")


def hairline() -> QFrame:
    line = QFrame()
    line.setProperty("role", "hairline")
    return line


def button(text: str, run: Callable[[], object], role: str = "", tip: str = "") -> QPushButton:
    made = QPushButton(text)
    if role:
        made.setProperty("role", role)
    made.setToolTip(tip)
    made.clicked.connect(lambda: run())
    if role == "link":
        made.setCursor(Qt.CursorShape.PointingHandCursor)
    return made


def row(*parts: QWidget | int, spacing: int = 8) -> QHBoxLayout:
    """Widgets side by side; an int is a stretch."""
    box = QHBoxLayout()
    box.setContentsMargins(0, 0, 0, 0)
    box.setSpacing(spacing)
    for part in parts:
        if isinstance(part, int):
            box.addStretch(part)
        else:
            box.addWidget(part)
    return box


class Field(QWidget):
    """A caption at the left and a control at the right; the caption is the control's accessible name."""

    def __init__(self, caption: str, control: QWidget, tip: str = "") -> None:
        super().__init__()
        self.control = control
        control.setAccessibleName(caption)
        self.setToolTip(tip)
        text = label(caption, "muted")
        text.setBuddy(control)
        box = row(text, 1, control)
        self.setLayout(box)


class WholeNumber(QSpinBox):
    """The wheel scrolls the panel over it, unless it has the focus."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class RealNumber(QDoubleSpinBox):
    """The wheel scrolls the panel over it, unless it has the focus."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


def whole_number(value: int, low: int, high: int, width: int = 76) -> QSpinBox:
    """A field for a whole number; it tells its value when the person is done typing."""
    made = WholeNumber()
    made.setRange(low, high)
    made.setValue(value)
    made.setFixedWidth(width)
    made.setKeyboardTracking(False)
    made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    made.setGroupSeparatorShown(True)
    return made


def real_number(
    value: float, low: float, high: float, step: float, decimals: int = 2, width: int = 76
) -> QDoubleSpinBox:
    made = RealNumber()
    made.setDecimals(decimals)
    made.setRange(low, high)
    made.setSingleStep(step)
    made.setValue(value)
    made.setFixedWidth(width)
    made.setKeyboardTracking(False)
    made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return made


class Choice(QComboBox):
    """A list of (value, caption) to choose one from.

    chosen(value) is emitted when the person chooses, not when the program does.
    """

    chosen = Signal(object)

    def __init__(self, items: Sequence[tuple[object, str]] = (), name: str = "") -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.set_items(items)
        self.activated.connect(lambda index: self.chosen.emit(self.itemData(index)))

    def set_items(self, items: Sequence[tuple[object, str]]) -> None:
        with QSignalBlocker(self):
            self.clear()
            for value, caption in items:
                self.addItem(caption, value)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The arrows open the list: going through it must not choose each item on the way."""
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.showPopup()
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scrolling a panel under the pointer must not change what is chosen."""
        event.ignore()

    @property
    def value(self) -> object:
        return self.currentData()

    def set_value(self, value: object) -> None:
        for index in range(self.count()):
            if self.itemData(index) == value:
                with QSignalBlocker(self):
                    self.setCurrentIndex(index)
                return


class Section(QWidget):
    """A titled part of a panel: small capitals, an optional control at the right, a hairline below."""

    def __init__(self, title: str, aside: QWidget | None = None, last: bool = False) -> None:
        super().__init__()
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        inner = QWidget()
        self.body = QVBoxLayout(inner)
        self.body.setContentsMargins(14, 8, 14, 10)
        self.body.setSpacing(6)
        self.heading = label(title.upper(), "section")
        parts: list[QWidget | int] = [self.heading, 1]
        if aside is not None:
            parts.append(aside)
        self.body.addLayout(row(*parts))
        outer.addWidget(inner)
        if not last:
            line = QHBoxLayout()
            line.setContentsMargins(14, 0, 14, 0)
            line.addWidget(hairline())
            outer.addLayout(line)

    def add(self, part: QWidget) -> QWidget:
        self.body.addWidget(part)
        return part


class Fold(QWidget):
    """A link that shows or hides what is below it; closed at first. `beside` stands at the left of the link."""

    toggled = Signal(bool)

    def __init__(self, caption: str, content: QWidget, opened_caption: str = "", beside: QWidget | None = None) -> None:
        super().__init__()
        self._captions = (caption, opened_caption or caption)
        self.content = content
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(6)
        self.link = button(caption, self.toggle, "link")
        self.link.setAccessibleName(caption)
        if beside is None:
            box.addLayout(row(self.link, 1))
        else:
            line = QHBoxLayout()
            line.setContentsMargins(0, 0, 0, 0)
            line.addWidget(beside, 1)
            line.addWidget(self.link, 0, Qt.AlignmentFlag.AlignTop)
            box.addLayout(line)
        box.addWidget(content)
        content.hide()

    @property
    def is_open(self) -> bool:
        return not self.content.isHidden()

    def toggle(self) -> None:
        self.content.setVisible(not self.is_open)
        self.link.setText(self._captions[self.is_open])
        self.toggled.emit(self.is_open)


def number(value: float | None, decimals: int = 3) -> str:
    """A share or score as `.669`; the field's papers leave the zero out. A dash where there is none."""
    if value is None or value != value:
        return "–"
    text = f"{value:.{decimals}f}"
    if text.startswith("0."):
        return text[1:]
    return f"−{text[2:]}" if text.startswith("-0.") else text.replace("-", "−")
