"""The selected cluster: its name, whether it resists, how sure one is, and suggestions."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from kiruviz.session.labels import Cluster
from kiruviz.ui.document import Document
from kiruviz.ui.keys import text_with_key, tip_with_key
from kiruviz.ui.widgets.basics import Section, button, label, plain_tip, row
from kiruviz.ui.widgets.chips import Chips, ChipSpec

_BELOW = 60
_CHIPS = 5


class NameField(QLineEdit):
    """kept() on Enter, left() on Esc, typed_and_gone() when the focus goes on with something typed in it."""

    kept = Signal()
    left = Signal()
    typed_and_gone = Signal()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        elsewhere = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)
        if self.isModified() and event.reason() not in elsewhere:
            self.typed_and_gone.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.kept.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class ConfidenceDots(QWidget):
    """Three dots for how sure one is of a name; keys 1, 2, 3 do the same.

    chosen(confidence)
    """

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        box = row(label("sure", "small"), spacing=1)
        self._dots: list[QToolButton] = []
        for value in (1, 2, 3):
            dot = QToolButton()
            dot.setProperty("role", "link")
            dot.setAccessibleName(f"Confidence {value} of 3")
            tip_with_key(dot, f"Confidence {value} of 3", f"sure_{value}")
            dot.clicked.connect(lambda _=False, value=value: self.chosen.emit(value))
            self._dots.append(dot)
            box.addWidget(dot)
        self.setLayout(box)
        self.show_value(0)

    def show_value(self, value: int) -> None:
        for i, dot in enumerate(self._dots, 1):
            dot.setText("●" if i <= value else "○")


class ThisClusterPane(QWidget):
    """Edits one cluster.

    Enter in the name keeps it and asks for the next unnamed (next_wanted); Esc gives the focus back (left).
    """

    next_wanted = Signal()
    left = Signal()
    resist_wanted = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._shown: tuple[int, int] | None = None
        self.dots = ConfidenceDots()
        self.dots.chosen.connect(self._set_confidence)
        self.section = Section("This cluster", self.dots)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self.section)
        self.name = NameField()
        self.name.setAccessibleName("Name of this cluster")
        self.name.setPlaceholderText("Name (Enter)")
        self.name.kept.connect(self._keep_name)
        self.name.left.connect(self._leave)
        self.name.typed_and_gone.connect(self.keep_typed)
        self.resists = button("Resists", self.resist_wanted.emit)
        text_with_key(self.resists, "Resists", "resist")
        tip_with_key(self.resists, "No name fits: mark it as resisting", "resist")
        self.resists.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.section.body.addLayout(row(self.name, self.resists))
        self.note = NameField()
        self.note.setAccessibleName("Note on this cluster")
        self.note.setPlaceholderText("Note: why, or what is in doubt")
        self.note.kept.connect(self._keep_note)
        self.note.left.connect(self._leave)
        self.note.typed_and_gone.connect(self.keep_typed)
        self.chips = Chips("Suggested names", self.note)
        self.chips.taken.connect(self._take)
        below = QWidget()
        # Of one height, whatever is in it: going through the clusters must not make the panel jump.
        below.setFixedHeight(_BELOW)
        inner = QVBoxLayout(below)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(6)
        inner.addWidget(self.note)
        inner.addWidget(self.chips)
        inner.addStretch(1)
        self.section.add(below)
        self.section.body.addStretch(1)
        for signal in (document.selection_changed, document.labels_changed, document.evidence_changed):
            signal.connect(self.refresh)
        self.refresh()

    def edit(self) -> None:
        """Put the cursor in the name."""
        if self._document.cluster is not None:
            self.name.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.name.selectAll()

    def edit_note(self) -> None:
        self.note.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.note.selectAll()

    def refresh(self) -> None:
        """Show the document's selected cluster; text that is being typed stays."""
        labels, cluster = self._document.labels, self._document.cluster
        wanted = None if labels is None or cluster is None else (labels.set_id, cluster.cluster_id)
        same = wanted is not None and wanted == self._shown
        if not same and (self.name.isModified() or self.note.isModified()):
            self.keep_typed()
            cluster = self._document.cluster
        self._shown = wanted
        self.setEnabled(cluster is not None)
        if not (same and self.name.hasFocus()):
            self.name.setText("" if cluster is None else cluster.name)
            self.name.setCursorPosition(0)  # of a long name the beginning shows
        if not (same and self.note.hasFocus()):
            self.note.setText("" if cluster is None else cluster.note)
        self.dots.show_value(0 if cluster is None else cluster.confidence)
        answered = cluster is not None and (cluster.status != "unnamed" or bool(cluster.note))
        self.note.setVisible(answered)
        self.name.setToolTip(plain_tip(self.name.text() if cluster is not None else ""))
        self._show_chips(cluster, 1 if answered else 2)

    def _show_chips(self, cluster: Cluster | None, lines: int) -> None:
        found = [] if cluster is None else self._document.suggestions(cluster.cluster_id)
        self.chips.set_lines(lines)
        self.chips.set_chips(
            [
                ChipSpec(s.name, s.source, f"Call it “{s.name}”. {s.why}", s.name, _short(s.source))
                for s in found[:_CHIPS]
            ]
        )

    def take(self, number: int) -> bool:
        """Name the cluster as the suggestion of that number, 1 for the first, says; False where there is none."""
        if not 1 <= number <= len(self.chips.shown):
            return False
        self._take(self.chips.shown[number - 1].spec.value)
        return True

    def _take(self, name: object) -> None:
        """One step that undo takes back. What was being typed gives way to it; the keyboard goes back to the table."""
        cluster = self._document.cluster
        if cluster is None:
            return
        typing = self.name.hasFocus() or self.chips.isAncestorOf(self.focusWidget() or self)
        self.name.setModified(False)
        self._shown = None
        self._document.label(lambda session: session.rename(cluster.cluster_id, str(name)))
        self.refresh()
        if typing:
            self.left.emit()

    def keep_typed(self) -> None:
        """Give the cluster that is shown what was typed for it, however the field is left (but by Esc)."""
        shown, labels = self._shown, self._document.labels
        name = self.name.text() if self.name.isModified() else None
        note = self.note.text() if self.note.isModified() else None
        self._let_go()
        # A set of clusters that came meanwhile is not what the name was typed for.
        if shown is None or labels is None or labels.set_id != shown[0] or shown[1] not in labels.clusters:
            return
        if name is not None:
            self._document.label(lambda session: session.rename(shown[1], name))
        if note is not None:
            self._document.label(lambda session: session.set_note(shown[1], note))

    def _let_go(self) -> None:
        self.name.setModified(False)
        self.note.setModified(False)

    def _keep_name(self) -> None:
        if self._document.cluster is not None:
            self.keep_typed()
            self.next_wanted.emit()

    def _keep_note(self) -> None:
        self.keep_typed()
        self.left.emit()

    def _leave(self) -> None:
        self._let_go()
        self._shown = None  # so that what was typed is replaced
        self.refresh()
        self.left.emit()

    def _set_confidence(self, value: int) -> None:
        cluster = self._document.cluster
        if cluster is not None:
            self._document.label(lambda session: session.set_confidence(cluster.cluster_id, value))


def _short(source: str) -> str:
    """A source's first words, where there is little room: the rest is in the tooltip."""
    return source.split(",")[0].removesuffix(" words")
