"""The nearest rows of the whole table to one token."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QVBoxLayout, QWidget

from kiruviz.space import METRICS, Metric, display_name
from kiruviz.tasks.spaces import NeighborList
from kiruviz.ui.conductor import Conductor
from kiruviz.ui.document import Document
from kiruviz.ui.theme import DARK, Theme, token_font
from kiruviz.ui.widgets.basics import Choice, Field, Section, button, label, number, row, whole_number
from kiruviz.ui.widgets.tables import RowsModel, Table

_METRIC_NAMES: dict[Metric, str] = {"cosine": "cosine", "euclidean": "Euclidean", "dot": "dot product"}


class NeighborsModel(RowsModel):
    """token, score, id; the score also as a share of the best, for its bar."""

    def __init__(self) -> None:
        super().__init__(("token", "score", "id"))
        self.right_aligned = frozenset({1, 2})
        self.share: dict[int, float] = {}
        self.decimals = 3

    def fill(self, found: NeighborList) -> None:
        scores = [n.score for n in found.neighbors]
        self.decimals = 3 if max((abs(s) for s in scores), default=0) < 100 else 1
        self.share = dict(zip((n.token_id for n in found.neighbors), _shares(found.metric, scores), strict=True))
        self.set_rows([(n.token, n.score, n.token_id) for n in found.neighbors])

    def shown(self, value: Any, column: int) -> str:
        if column == 0:
            return display_name(value)
        return number(value, self.decimals) if column == 1 else f"{value}"

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.FontRole and index.column() == 0:
            return token_font()
        return super().data(index, role)


def _shares(metric: Metric, scores: list[float]) -> list[float]:
    """How long each bar is, 0 to 1: cosine by itself, the others relative to the best."""
    if metric == "cosine":
        return [max(0.0, min(1.0, s)) for s in scores]
    if metric == "euclidean":
        return [min(scores) / s if s > 0 else 1.0 for s in scores] if scores else []
    best = max((abs(s) for s in scores), default=1.0) or 1.0
    return [max(0.0, s / best) for s in scores]


class BarDelegate(QStyledItemDelegate):
    """Draws a score as a bar with its number."""

    theme: Theme = DARK

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        rect = QRectF(option.rect)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, QColor(self.theme.selected))
        model = index.model()
        assert isinstance(model, NeighborsModel)
        share = model.share.get(model.rows[index.row()][2], 0.0)
        text_width = 52.0
        bar = QRectF(rect.left() + 4, rect.center().y() - 3, max(rect.width() - text_width - 8, 8), 6)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self.theme.line))
        painter.drawRoundedRect(bar, 3, 3)
        painter.setBrush(QColor(self.theme.accent))
        painter.drawRoundedRect(QRectF(bar.left(), bar.top(), max(bar.width() * share, 2), 6), 3, 3)
        painter.setPen(QColor(self.theme.muted))
        painter.drawText(
            rect.adjusted(0, 0, -4, 0), Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, index.data()
        )


class NeighborsPane(QWidget):
    """Asks for the neighbours of the focus row, or of a token typed in the search field.

    token_activated(token_id, token) on Enter or a double click on a neighbour.
    """

    token_activated = Signal(int, str)

    def __init__(self, document: Document, conductor: Conductor) -> None:
        super().__init__()
        self._document = document
        self._conductor = conductor
        self._query: tuple[tuple[int, ...], str] | None = None
        self._identity = ""  # of the model whose rows are asked about
        self.found: NeighborList | None = None
        self.metric_choice = Choice([(m, _METRIC_NAMES[m]) for m in METRICS], "Metric")
        self.metric_choice.setFixedWidth(106)
        self.metric_choice.chosen.connect(lambda _: self._ask())
        self.section = Section("Neighbours", self.metric_choice, last=True)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self.section)
        self.hint = label("Click a point on the map, or search for a token.", "small", wrap=True)
        self.section.add(self.hint)
        self.model = NeighborsModel()
        self.table = Table(self.model, "Neighbours")
        self.table.setMinimumHeight(136)
        self.table.horizontalHeader().hide()
        self.table.stretch(1)
        self.bars = BarDelegate(self.table)
        self.table.setItemDelegateForColumn(1, self.bars)
        self.table.activated_row.connect(self._activated)
        self.section.body.addWidget(self.table, 1)
        self.baseline = label("", "small", wrap=True, selectable=True)
        self.count = whole_number(10, 1, 1000, 60)
        self.count.valueChanged.connect(lambda _: self._ask())
        self.copy = button("Copy as Python", lambda: None, "link")
        self.section.add(self.baseline)
        self.section.body.addLayout(row(Field("Top", self.count), 1, self.copy))
        self.section.body.addStretch(0)
        self._show_content(False)
        document.selection_changed.connect(self._focus_changed)
        document.space_changed.connect(self._space_changed)
        conductor.neighbors_found.connect(self._show)

    def set_theme(self, theme: Theme) -> None:
        self.bars.theme = theme
        self.table.viewport().update()

    def ask(self, row_ids: tuple[int, ...], query: str) -> None:
        """Show the neighbours of a table row, or of the mean of several."""
        if self._query != (row_ids, query):
            self._query = (row_ids, query)
            self._ask()

    def _ask(self) -> None:
        if self._query is not None:
            metric: Any = self.metric_choice.value
            self._conductor.ask_neighbors(*self._query, metric, self.count.value())

    def _focus_changed(self) -> None:
        record, focus = self._document.record, self._document.focus
        if record is None or focus is None or focus >= len(record):
            return
        row_id = int(record.row_ids[focus])
        self.ask((row_id,) if row_id >= 0 else (), record.names[focus])

    def _space_changed(self) -> None:
        """The same token under another transform or table has other neighbours; in another model it is another row."""
        record = self._document.record
        if record is not None and record.recipe.identity != self._identity:
            self._identity = record.recipe.identity
            self._query = self.found = None
            self._show_content(False)
        self._ask()

    def _show(self, found: NeighborList) -> None:
        self.found = found
        self.section.heading.setText(f"NEIGHBOURS OF {display_name(found.query)}")
        self.model.fill(found)
        self.table.resizeColumnToContents(0)
        self.table.setColumnWidth(0, min(self.table.columnWidth(0) + 8, 128))
        name = _METRIC_NAMES[found.metric]
        baseline = number(found.baseline, 3)
        self.baseline.setText(
            f"{name} over the whole table, {found.transform.describe()}; random pairs have a mean cosine of {baseline}."
        )
        self._show_content(True)

    def _show_content(self, there: bool) -> None:
        self.hint.setVisible(not there)
        for part in (self.table, self.baseline, self.copy, self.count.parentWidget() or self.count):
            part.setVisible(there)
        if not there:
            self.section.heading.setText("NEIGHBOURS")

    def _activated(self, row: int) -> None:
        token, _, token_id = self.model.rows[row]
        self.token_activated.emit(int(token_id), str(token))
