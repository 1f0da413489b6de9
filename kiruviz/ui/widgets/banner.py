"""A message on the map: one sentence, what one can do about it, details in a fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QFrame, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from kiruviz.ui.theme import token_font
from kiruviz.ui.widgets.basics import Fold, button, label, row

Choices = Sequence[tuple[str, Callable[[], object]]]


class Banner(QFrame):
    """Stands at the top of its parent until it is closed or answered."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parent = parent
        self.setObjectName("banner")
        self.setAccessibleName("Message")
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(14, 10, 12, 10)
        self._content: QWidget | None = None
        self._text: QLabel | None = None
        self._sentence = ""
        self.hide()

    @property
    def text(self) -> str:
        """The sentence that is shown, empty while none is."""
        return self._sentence if self.isVisible() else ""

    def say(self, sentence: str, details: str = "", choices: Choices = ()) -> None:
        """Show a sentence with buttons for `choices`; each also closes the banner."""
        self._sentence = sentence
        if self._content is not None:
            self._box.removeWidget(self._content)
            self._content.hide()  # it lives until the event loop turns, and must not be measured or read till then
            self._content.deleteLater()
        content = QWidget()
        box = QVBoxLayout(content)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(8)
        self._text = label(sentence, wrap=True, selectable=True)
        box.addWidget(self._text)
        buttons: list[QWidget | int] = [button(name, self._answer(run)) for name, run in choices]
        buttons += [1, button("Close", self.hide, "link")]
        if details:
            text = QPlainTextEdit(details)
            text.setReadOnly(True)
            text.setFont(token_font(11))
            text.setFixedHeight(140)
            fold = Fold("Details", text)
            fold.toggled.connect(lambda _: self.place())
            box.addWidget(fold)
        box.addLayout(row(*buttons))
        self._content = content
        self._box.addWidget(content)
        content.show()  # in a banner that stands already it would be measured before it is shown, as nothing
        self.show()
        self.raise_()
        self.place()

    def _answer(self, run: Callable[[], object]) -> Callable[[], None]:
        def answer() -> None:
            self.hide()
            run()

        return answer

    def place(self) -> None:
        """At the top, in the middle, as wide as reads well."""
        if self.isHidden():
            return
        parent = self._parent
        width = min(560, parent.width() - 40)
        margins = self._box.contentsMargins()
        if self._text is not None:
            # A wrapped label tells its height only for a known width.
            inner = width - margins.left() - margins.right() - 2
            self._text.setFixedHeight(self._text.heightForWidth(inner))
        self.setFixedWidth(width)
        self._box.invalidate()
        self._box.activate()
        self.setFixedHeight(self._box.sizeHint().height())
        self.move((parent.width() - width) // 2, 64)
