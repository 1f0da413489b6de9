"""A line in a dialog that says something, or asks before something is replaced or lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from kiruviz.ui.widgets.basics import button, label

Choices = Sequence[tuple[str, Callable[[], object]]]


class AskLine(QWidget):
    """One sentence, and while it asks a button for each answer; the last answer is the safe one and has the focus."""

    def __init__(self) -> None:
        super().__init__()
        self._text = label("", "small", wrap=True)
        self._answers: list[QPushButton] = []
        self._box = QHBoxLayout(self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(8)
        self._box.addWidget(self._text, 1)
        self.setMinimumHeight(32)

    @property
    def text(self) -> str:
        return self._text.text()

    @property
    def asks(self) -> bool:
        """Whether it waits for an answer."""
        return bool(self._answers)

    def say(self, sentence: str) -> None:
        """Show a sentence; a question that waits is dropped."""
        self._drop_answers()
        self._show(sentence, "small")

    def ask(self, question: str, answers: Choices) -> None:
        """Show a question with its answers; each drops the question and does its part."""
        self._drop_answers()
        self._show(question, "warning")
        for caption, run in answers:
            answer = button(caption, self._answered(run))
            answer.setAutoDefault(True)
            self._answers.append(answer)
            self._box.addWidget(answer)
            answer.show()  # what is not shown yet takes no focus
        self._answers[-1].setFocus(Qt.FocusReason.OtherFocusReason)

    def answers(self) -> dict[str, QPushButton]:
        """The buttons by what they say."""
        return {answer.text(): answer for answer in self._answers}

    def _answered(self, run: Callable[[], object]) -> Callable[[], None]:
        def answer() -> None:
            self.say("")
            run()

        return answer

    def _show(self, text: str, role: str) -> None:
        self._text.setProperty("role", role)
        self._text.style().unpolish(self._text)
        self._text.style().polish(self._text)
        self._text.setText(text)

    def _drop_answers(self) -> None:
        for answer in self._answers:
            self._box.removeWidget(answer)
            answer.hide()
            answer.deleteLater()
        self._answers = []
