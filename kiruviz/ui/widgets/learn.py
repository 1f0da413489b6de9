"""“What am I looking at?”: five sentences, the formula, something to try, hint and solution closed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from kiruviz.paths import resource
from kiruviz.ui.theme import token_font
from kiruviz.ui.widgets.basics import Fold, button, label, row

_WIDTH = 440


@dataclass(frozen=True)
class Lesson:
    """A pane's explanation: `sentences`, `formula` lines, `steps` to try, a `hint` and a `solution`."""

    title: str
    sentences: tuple[str, ...]
    formula: tuple[str, ...]
    try_title: str
    steps: tuple[str, ...]
    hint: str
    solution: str


def read_lesson(name: str) -> Lesson:
    """The lesson `name` from resources/lessons."""
    data: dict[str, Any] = json.loads(resource("lessons", f"{name}.json").read_text(encoding="utf-8"))
    lists = {key: tuple(value) for key, value in data.items() if isinstance(value, list)}
    return Lesson(**(data | lists))


class LearnSheet(QFrame):
    """A sheet over the canvas with a pane's lesson."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parent = parent
        self.setObjectName("sheet")
        self.setAccessibleName("What am I looking at?")
        self._outer = QVBoxLayout(self)
        self._outer.setContentsMargins(0, 0, 0, 0)
        self.hint: Fold | None = None
        self.solution: Fold | None = None
        self.hide()

    def toggle(self, lesson: str) -> None:
        """Open the sheet with a lesson, or close it."""
        if self.isVisible():
            self.hide()
            return
        if self.hint is None:
            self._fill(read_lesson(lesson))
        self.show()
        self.raise_()
        self.place()

    def _fill(self, lesson: Lesson) -> None:
        content = QWidget()
        content.setObjectName("panel")
        box = QVBoxLayout(content)
        box.setContentsMargins(20, 16, 20, 18)
        box.setSpacing(10)
        box.addLayout(row(label(lesson.title, "title"), 1, button("Close", self.hide, "link")))
        for sentence in lesson.sentences:
            box.addWidget(label(sentence, wrap=True))
        for line in lesson.formula:
            formula = label(line, selectable=True, wrap=True)
            formula.setFont(token_font(12))
            box.addWidget(formula)
        box.addWidget(label(lesson.try_title.upper(), "section"))
        for number, step in enumerate(lesson.steps, 1):
            box.addWidget(label(f"{number}.  {step}", wrap=True))
        self.hint = Fold("Show a hint", label(lesson.hint, wrap=True), "Hide the hint")
        self.solution = Fold("Show a solution", label(lesson.solution, wrap=True), "Hide the solution")
        box.addWidget(self.hint)
        box.addWidget(self.solution)
        box.addStretch(1)
        area = QScrollArea()
        area.setObjectName("panel")
        area.setWidgetResizable(True)
        area.setWidget(content)
        self._outer.addWidget(area)

    def place(self) -> None:
        """At the lower left, as high as the canvas allows."""
        parent = self._parent
        height = min(620, parent.height() - 28)
        self.setGeometry(14, parent.height() - height - 14, min(_WIDTH, parent.width() - 28), height)
