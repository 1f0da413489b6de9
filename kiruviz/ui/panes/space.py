"""Which table, which rows, and what is done to them before any distance."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QFileDialog, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from kiruviz.errors import UserError
from kiruviz.jobs.helper import JobError
from kiruviz.models.rows import parse_words, read_words
from kiruviz.space import Filters, PieceRule, Recipe, Rows, Transform
from kiruviz.tasks.spaces import ModelInfo, RowCount
from kiruviz.ui.conductor import EVERYDAY_TITLE, Conductor, everyday_rows
from kiruviz.ui.document import Document
from kiruviz.ui.widgets.basics import Choice, Field, Fold, Section, button, label, plain_tip, row, whole_number

_TYPING_MS = 180
_TYPED_TITLE = "Words typed here"
_PIECES: tuple[tuple[PieceRule, str], ...] = (
    ("mean", "mean of its tokens"),
    ("first", "its first token"),
    ("leave_out", "leave it out"),
)


class SpacePane(QWidget):
    """Builds a recipe from what is chosen.

    chosen(Recipe) when the map of other rows is wanted; failed(str) for a file that cannot be read.
    """

    chosen = Signal(object)
    failed = Signal(str)

    def __init__(self, document: Document, conductor: Conductor) -> None:
        super().__init__()
        self._document = document
        self._conductor = conductor
        self._info: ModelInfo | None = None
        self._rows: Rows = everyday_rows()
        self.section = Section("Space")
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self.section)
        self._build_table_and_rows()
        self._build_transform()
        self.count = label("", "small", wrap=True)
        self._build_filters()
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        self._typing.timeout.connect(self._count)
        conductor.model_changed.connect(self._model_changed)
        conductor.counted.connect(self._counted)
        document.space_changed.connect(self._space_changed)

    def _build_table_and_rows(self) -> None:
        self.table = Choice([("token", "Input embedding")], "Table")
        self.table.chosen.connect(lambda _: self._apply())
        self.rows = Choice(
            [
                ("everyday", EVERYDAY_TITLE),
                ("pasted", "Words typed or pasted…"),
                ("file", "Words from a file…"),
                ("all", "Whole vocabulary"),
            ],
            "Rows",
        )
        self.rows.chosen.connect(self._rows_chosen)
        self.section.add(self.table)
        self.section.add(self.rows)
        self.pasted = QPlainTextEdit()
        self.pasted.setAccessibleName("Words, one on each line")
        self.pasted.setPlaceholderText("One word on each line")
        self.pasted.setFixedHeight(96)
        self.pasted.textChanged.connect(lambda: self._typing.start())
        self.pieces = Choice(_PIECES, "A word of several tokens")
        self.pieces.setFixedWidth(132)
        self.pieces.chosen.connect(lambda _: self._count())
        self.words_box = QWidget()
        box = QVBoxLayout(self.words_box)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(7)
        box.addWidget(self.pasted)
        box.addWidget(Field("Word of several", self.pieces, "What stands for a word that is several tokens"))
        self.section.add(self.words_box)
        self.words_box.hide()

    def _build_transform(self) -> None:
        self.center = QCheckBox("Centre")
        self.center.setToolTip("Subtract the mean row of the whole table from every row")
        self.unit = QCheckBox("Unit length")
        self.unit.setToolTip("Divide every row by its length")
        self.remove_top = whole_number(0, 0, 16, 44)
        for box in (self.center, self.unit):
            box.clicked.connect(lambda _=False: self._apply())
        self.remove_top.valueChanged.connect(lambda _: self._apply())
        self.section.body.addLayout(row(self.center, self.unit, 1))
        self.section.add(
            Field("All-but-the-top", self.remove_top, "Principal directions taken out of the centred rows; 0 for none")
        )

    def _build_filters(self) -> None:
        self.whole_words = QCheckBox("Whole words only")
        self.kind = Choice([("", "any kind")], "Token kind")
        self.script = Choice([("", "any script")], "Script")
        self.pattern = QLineEdit()
        self.pattern.setPlaceholderText("Regular expression")
        self.pattern.setAccessibleName("Regular expression")
        self.rank = whole_number(0, 0, 1_000_000)
        self.rank.setSpecialValueText("any")
        self.rank.setKeyboardTracking(True)
        content = QWidget()
        box = QVBoxLayout(content)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(7)
        box.addWidget(self.whole_words)
        box.addLayout(row(self.kind, self.script))
        box.addWidget(self.pattern)
        box.addWidget(Field("Most frequent", self.rank, "Keep words of this rank or better in wordfreq's English list"))
        self.show_rows = button("Show these rows", self._apply)
        box.addWidget(self.show_rows)
        self.filters = Fold("Filters", content, "Fewer", beside=self.count)
        self.section.add(self.filters)
        self.whole_words.clicked.connect(lambda _=False: self._count())
        self.kind.chosen.connect(lambda _: self._count())
        self.script.chosen.connect(lambda _: self._count())
        self.pattern.textChanged.connect(lambda _: self._typing.start())
        self.pattern.returnPressed.connect(self._apply)
        self.rank.valueChanged.connect(lambda _: self._typing.start())

    # What is chosen

    def recipe(self) -> Recipe | None:
        """The recipe of what is chosen, None while no model is open."""
        if self._info is None:
            return None
        transform = Transform(self.center.isChecked(), self.remove_top.value(), self.unit.isChecked())
        kind: Any = self.table.value
        return Recipe(self._info.card.source, self._info.card.identity, kind, self._chosen_rows(), transform)

    def _chosen_rows(self) -> Rows:
        kind, script = str(self.kind.value or ""), str(self.script.value or "")
        filters = Filters(
            whole_words=self.whole_words.isChecked(),
            kinds=(kind,) if kind else (),
            scripts=(script,) if script else (),
            pattern=self.pattern.text(),
            max_rank=self.rank.value() or None,
        )
        pieces: Any = self.pieces.value
        rows = replace(self._rows, filters=filters, pieces=pieces)
        if self.rows.value == "pasted":
            rows = replace(rows, words=tuple(parse_words(self.pasted.toPlainText(), "the words typed here")))
        return rows

    def _rows_chosen(self, value: object) -> None:
        self.words_box.setVisible(value in ("pasted", "file"))
        self.pasted.setVisible(value == "pasted")
        if value == "everyday":
            self._rows = everyday_rows()
        elif value == "all":
            self._rows = Rows()
        elif value == "file":
            name, _ = QFileDialog.getOpenFileName(
                self, "Open a list of words", "", "Text (*.txt *.csv *.tsv);;All files (*)"
            )
            if not name:
                self._space_changed()
                return
            self.read_file(Path(name))
            return
        else:
            self._rows = Rows(words=(), title=_TYPED_TITLE)
            if not self.filters.is_open:
                self.filters.toggle()
            self.pasted.setFocus()
            self._count()
            return
        self._apply()

    def read_file(self, path: Path) -> None:
        """Use the words of a file, one on each line."""
        try:
            words = read_words(path)
        except UserError as error:
            self.failed.emit(str(error))
            return
        self._rows = Rows(words=tuple(words), title=path.name)
        self.rows.set_value("file")
        self.words_box.show()
        self.pasted.hide()
        self._apply()

    def _apply(self) -> None:
        try:
            recipe = self.recipe()
        except UserError as error:
            self.failed.emit(str(error))
            return
        if recipe is None:
            self.failed.emit("No model is open to look words up in; open one from the Model menu.")
        elif self._document.record is None or recipe != self._document.record.recipe:
            self.chosen.emit(recipe)

    def _count(self) -> None:
        if self._info is None:
            return
        try:
            self._conductor.ask_count(self._chosen_rows())
        except UserError as error:
            self.count.setText(str(error))

    def _counted(self, found: RowCount | JobError) -> None:
        invalid = isinstance(found, JobError)
        self.pattern.setProperty("invalid", invalid and bool(self.pattern.text()))
        self.pattern.style().polish(self.pattern)
        if isinstance(found, JobError):
            self.count.setText(found.sentence)
            return
        parts = [f"{found.count:,} row" + ("s" if found.count != 1 else "")]
        if found.several_pieces:
            parts.append(f"{found.several_pieces} of several tokens")
        if found.dropped:
            word, reason = found.dropped[0]
            parts.append(f"{len(found.dropped)} left out (“{word}”: {reason})")
        self.count.setText(" · ".join(parts))
        self.count.setToolTip(plain_tip("\n".join(f"{word}: {reason}" for word, reason in found.dropped[:40])))

    # What is open

    def _model_changed(self, info: ModelInfo | None) -> None:
        self._info = info
        self.setEnabled(info is not None)
        if info is None:
            return
        names = {"token": "Input embedding", "output": "Output embedding"}
        tied = " (tied: the same)" if info.card.tied else ""
        self.table.set_items([(k, names[k] + (tied if k == "output" else "")) for k in info.kinds])
        self.kind.set_items([("", "any kind"), *((k, k) for k in info.token_kinds)])
        self.script.set_items([("", "any script"), *((s, s) for s in info.scripts)])
        self.rows.setEnabled(True)
        self._space_changed()  # the lists are new; what is on the map stays chosen in them

    def _space_changed(self) -> None:
        """Show the recipe of the rows on the map: undo and sessions change it too."""
        record = self._document.record
        if record is None:
            return
        recipe = record.recipe
        self._rows = recipe.rows
        self.table.set_value(recipe.kind)
        self.center.setChecked(recipe.transform.center)
        self.unit.setChecked(recipe.transform.normalize)
        self.remove_top.blockSignals(True)
        self.remove_top.setValue(recipe.transform.remove_top)
        self.remove_top.blockSignals(False)
        self._show_rows(recipe.rows)
        several = int((record.columns["pieces"] > 1).sum())
        parts = [f"{len(record):,} rows", recipe.transform.describe()]
        if several:
            parts.append(f"{several} of several tokens ({dict(_PIECES)[recipe.rows.pieces]})")
        if recipe.rows.words is not None and (left := len(recipe.rows.words) - len(record)) > 0:
            parts.append(f"{left} left out")
        self.count.setText(" · ".join(parts))

    def _show_rows(self, rows: Rows) -> None:
        if rows.words is None:
            kind = "all"
        elif rows.title == EVERYDAY_TITLE:
            kind = "everyday"
        else:
            kind = "pasted" if rows.title == _TYPED_TITLE else "file"
        if kind == "pasted" and rows.words is not None:
            self._fill_typed(rows.words)
        self.rows.set_value(kind)
        self.words_box.setVisible(kind in ("pasted", "file"))
        self.pasted.setVisible(kind == "pasted")
        self.pieces.set_value(rows.pieces)
        filters = rows.filters
        self.whole_words.setChecked(filters.whole_words)
        self.kind.set_value(filters.kinds[0] if filters.kinds else "")
        self.script.set_value(filters.scripts[0] if filters.scripts else "")
        for field in (self.pattern, self.rank):
            field.blockSignals(True)
        self.pattern.setText(filters.pattern)
        self.rank.setValue(filters.max_rank or 0)
        for field in (self.pattern, self.rank):
            field.blockSignals(False)

    def _fill_typed(self, words: tuple[str, ...]) -> None:
        """The words on the map stand in the field, whatever was typed there since."""
        try:
            typed = tuple(parse_words(self.pasted.toPlainText(), "the words typed here"))
        except UserError:
            typed = ()
        if typed != words:
            with QSignalBlocker(self.pasted):
                self.pasted.setPlainText("\n".join(words))
