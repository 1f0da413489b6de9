"""The clusters: the table, the keys, and the selected one with its evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPersistentModelIndex, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QKeyEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import (
    QHeaderView,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from kiruviz.analysis.grouping import rest_title
from kiruviz.palette import cluster_color, neutral_color
from kiruviz.session.labels import ASIDE, Cluster, LabelSet
from kiruviz.ui.conductor import NamesMoved
from kiruviz.ui.document import Document
from kiruviz.ui.theme import DARK, FONT_PX, Theme, text_font
from kiruviz.ui.widgets.basics import Section, button, label, number, plain_caption, plain_tip
from kiruviz.ui.widgets.tables import RowsModel, Table

_DOTS_PX = 8
# What the column “stable” tells; of EVoC's clusters nothing, since another seed finds other layers.
_PARTS = "How alike a cluster is found again (Jaccard, mean) from five random draws of 80 % of the rows"
_STABLE = {
    "kmeans": "How alike a cluster is found again (Jaccard, mean) by k-means with five other seeds",
    "hdbscan": _PARTS,
    "agglomerative": _PARTS,
}
_ASCENDING = Qt.SortOrder.AscendingOrder
# Up to so many rows that come or go are put in one by one.
_FEW_ROWS = 20
# Space beside the text of a cell.
_CELL_MARGIN = 18
_CONFIDENCE = ("", "●○○", "●●○", "●●●")


class ClustersModel(RowsModel):
    """A row for each cluster: itself, name, size, confidence, stability."""

    def __init__(self) -> None:
        super().__init__(("", "name", "size", "sure", "stable"))
        self.right_aligned = frozenset({2, 4})
        self.theme: Theme = DARK
        self.clusters: dict[int, Cluster] = {}
        self.method = ""

    def fill(
        self, labels: LabelSet, stability: dict[int, float], column: int = 0, order: Qt.SortOrder = _ASCENDING
    ) -> None:
        """Show the clusters in the order of a column. What stays as it is is left alone: with hundreds of clusters a
        table filled anew for each key would be felt."""
        before, self.clusters, self.method = self.clusters, labels.clusters, labels.method
        sizes = labels.sizes()
        rows: list[tuple[Any, ...]] = [
            (c, labels.clusters[c].title, sizes[c], labels.clusters[c].confidence, stability.get(c))
            for c in labels.order
        ]
        rows.sort(key=_sort_key(column), reverse=order == Qt.SortOrder.DescendingOrder)
        if not self._become([row[0] for row in rows]):
            self.set_rows(rows)
            return
        for i, row in enumerate(rows):
            if row != self.rows[i] or before.get(row[0]) is not labels.clusters[row[0]]:
                self.rows[i] = row
                self.dataChanged.emit(self.index(i, 0), self.index(i, len(self.headings) - 1))

    def _become(self, ids: list[int]) -> bool:
        """Take away rows and put in empty ones until they are those of `ids`; False, and nothing done, where that are
        many or the others would not be in order."""
        wanted, shown = set(ids), [row[0] for row in self.rows]
        gone = [i for i, cluster_id in enumerate(shown) if cluster_id not in wanted]
        there = set(shown)
        new = [i for i, cluster_id in enumerate(ids) if cluster_id not in there]
        staying = [cluster_id for cluster_id in shown if cluster_id in wanted]
        if len(gone) + len(new) > _FEW_ROWS or staying != [cluster_id for cluster_id in ids if cluster_id in there]:
            return False
        for i in reversed(gone):
            self.beginRemoveRows(QModelIndex(), i, i)
            del self.rows[i]
            self.endRemoveRows()
        for i in new:
            self.beginInsertRows(QModelIndex(), i, i)
            self.rows.insert(i, (ids[i], "", 0, 0, None))
            self.endInsertRows()
        return True

    def shown(self, value: Any, column: int) -> str:
        if column == 0:
            return ""
        if column == 3:
            return _CONFIDENCE[value]
        return number(value, 2) if column == 4 else f"{value:,}" if column == 2 else str(value)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        cluster = self.clusters.get(self.rows[index.row()][0])
        if cluster is not None:
            if role == Qt.ItemDataRole.ForegroundRole:
                return self._foreground(cluster, index)
            if role == Qt.ItemDataRole.FontRole and index.column() == 1 and cluster.status != "named":
                return text_font(FONT_PX, italic=True)
            if role == Qt.ItemDataRole.FontRole and index.column() == 3:
                return text_font(_DOTS_PX)
            if role == Qt.ItemDataRole.ToolTipRole:
                return plain_tip(f"{cluster.title}\n{cluster.note}".strip())
        return super().data(index, role)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.ToolTipRole and section == 4:
            return plain_tip(_STABLE.get(self.method, ""))
        return super().headerData(section, orientation, role)

    def _foreground(self, cluster: Cluster, index: QModelIndex | QPersistentModelIndex) -> QColor:
        stable = self.rows[index.row()][4]
        if index.column() == 4 and stable is not None:
            return QColor(self.theme.good if stable >= 0.75 else self.theme.warning)
        quiet = index.column() != 1 or cluster.status != "named"
        return QColor(self.theme.muted if quiet else self.theme.text)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.layoutAboutToBeChanged.emit()
        self.rows.sort(key=_sort_key(column), reverse=order == Qt.SortOrder.DescendingOrder)
        self.layoutChanged.emit()


def _sort_key(column: int) -> Callable[[tuple[Any, ...]], tuple[bool, Any]]:
    return lambda row: (row[column] is None, row[column])


class SwatchDelegate(QStyledItemDelegate):
    """The cluster's colour: a disc, or a ring for one that resists naming."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        model = index.model()
        assert isinstance(model, ClustersModel)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(model.theme.selected))
        cluster = model.clusters.get(model.rows[index.row()][0])
        if cluster is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = QPointF(QRectF(option.rect).center())
        if cluster.status == "resists":
            painter.setPen(QPen(QColor(neutral_color(model.theme.ground)), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(cluster_color(cluster.color, model.theme.ground)))
        painter.drawEllipse(middle, 4.5, 4.5)


class ProgressPips(QWidget):
    """One pip a cluster: named, resisting, to go. The line above says the same in words."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(5)
        self.theme: Theme = DARK
        self._pips: list[str] = []

    def show_labels(self, labels: LabelSet | None) -> None:
        order = {"named": 0, "resists": 1, "unnamed": 2}
        statuses = [] if labels is None else [c.status for c in labels.clusters.values()]
        self._pips = sorted(statuses, key=lambda status: order[status])
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        if not self._pips:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        colors = {"named": self.theme.good, "resists": self.theme.muted, "unnamed": self.theme.line}
        if len(self._pips) > 24:  # one bar for each status
            start = 0.0
            for status, color in colors.items():
                width = self.width() * self._pips.count(status) / len(self._pips)
                painter.setBrush(QColor(color))
                painter.drawRect(QRectF(start, 0, width, 5))
                start += width
            return
        gap = 4.0
        width = (self.width() - gap * (len(self._pips) - 1)) / len(self._pips)
        for i, status in enumerate(self._pips):
            painter.setBrush(QColor(colors[status]))
            painter.drawRoundedRect(QRectF(i * (width + gap), 0, width, 5), 2.5, 2.5)


class RestLine(QPushButton):
    """The rows in no cluster, below the table: a grey disc, what they are, how many. A click selects them."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "rest")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("Rows in no cluster")
        self.setToolTip("Rows in no cluster; click to select them")
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        disc = QPixmap(32, 32)
        disc.setDevicePixelRatio(2)
        disc.fill(Qt.GlobalColor.transparent)
        painter = QPainter(disc)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(neutral_color(theme.ground)))
        painter.drawEllipse(QPointF(8, 8), 4.5, 4.5)
        painter.end()
        self.setIcon(QIcon(disc))

    def show_labels(self, labels: LabelSet | None) -> None:
        rows = 0 if labels is None else len(labels.assignment)
        count = rows - (0 if labels is None else sum(labels.sizes().values()))
        self.setVisible(count > 0)
        if labels is not None and count:
            text = f"{rest_title(labels.method)}  {count:,} ({100 * count / rows:.0f} %)"
            self.setText(plain_caption(text))
            self.setAccessibleName(f"{rest_title(labels.method)}, {count:,} rows")


class ClustersTable(Table):
    """The table of clusters; labelling keys that it does not use itself go to key_pressed(event)."""

    key_pressed = Signal(object)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape):
            self.key_pressed.emit(event)
            return
        super().keyPressEvent(event)


class ClustersPane(QWidget):
    """Lists the clusters; moving through them selects them in the document.

    flown(cluster_id) when a cluster was chosen by hand, so that the map goes there; report_wanted() for the link
    to what became of the names.
    """

    flown = Signal(int)
    report_wanted = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._filling = False
        self.section = Section("Clusters")
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self.section)
        self.progress = label("No clusters yet.", "small")
        self.pips = ProgressPips()
        self.section.add(self.progress)
        self.section.add(self.pips)
        self.report = button("", self.report_wanted.emit, "link", "What became of the names, row by row")
        self.report.setAccessibleName("What became of the names")
        self.section.add(self.report)
        self.report.hide()
        self._reported: int | None = None
        self.model = ClustersModel()
        self.table = ClustersTable(self.model, "Clusters")
        self.table.setMinimumHeight(128)
        header = self.table.horizontalHeader()
        self.table.setItemDelegateForColumn(0, SwatchDelegate(self.table))
        self.table.stretch(1)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        self.table.setColumnWidth(0, 24)
        for column in (2, 3, 4):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
        header.setSectionsClickable(True)
        header.sectionClicked.connect(self._sort_by)
        self._sorted: tuple[int, Qt.SortOrder] = (0, Qt.SortOrder.AscendingOrder)
        self.section.body.addWidget(self.table, 1)
        self.rest = RestLine()
        self.rest.clicked.connect(self._select_rest)
        self.section.add(self.rest)
        self.table.selectionModel().currentRowChanged.connect(self._current_changed)
        document.labels_changed.connect(self.refresh)
        document.evidence_changed.connect(self.refresh)
        document.space_changed.connect(self.refresh)
        document.selection_changed.connect(self._selection_changed)

    def set_theme(self, theme: Theme) -> None:
        self.model.theme = self.pips.theme = theme
        self.rest.set_theme(theme)
        self.pips.update()
        self.table.viewport().update()

    def offer_report(self, set_id: int, moved: NamesMoved) -> None:
        """Link to what became of the names, for as long as that set of clusters is shown."""
        self._reported = set_id
        kept = len(moved.kept) + len(moved.back)
        parts = [f"{kept} carried over"] if kept else []
        lost = len(moved.lost) + len(moved.elsewhere)
        parts += [f"{lost} without a cluster"] if lost else []
        self.report.setText(f"Names: {', '.join(parts)}…")
        self.report.show()

    @property
    def selected_clusters(self) -> list[int]:
        """The ids of all selected rows, in the table's order."""
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        return [self.model.rows[row][0] for row in rows]

    def refresh(self) -> None:
        """Fill the table from the document, keeping the order and the selection."""
        labels = self._document.labels
        self._filling = True
        if labels is None:
            self.model.clusters = {}
            self.model.set_rows([])
            self.progress.setText("No clusters yet.")
        else:
            self.model.fill(labels, self._document.stability, *self._sorted)
            self.progress.setText(progress_line(labels))
        self.pips.show_labels(labels)
        if labels is None or labels.set_id != self._reported:
            self.report.hide()
        self.rest.show_labels(labels)
        self.table.setColumnHidden(3, not any(row[3] for row in self.model.rows))
        self.table.setColumnHidden(4, not any(row[4] is not None for row in self.model.rows))
        self._fit_columns()
        self._filling = False
        self._selection_changed()

    def _select_rest(self) -> None:
        """Select the rows in no cluster, as a lasso would: so they can be looked at, moved or made a cluster."""
        labels = self._document.labels
        if labels is not None:
            self._document.set_lasso(labels.members(ASIDE))

    def _fit_columns(self) -> None:
        """Columns as wide as their widest text. Qt's own way measures every cell at each change."""
        metrics = self.table.fontMetrics()
        largest = max((row[2] for row in self.model.rows), default=0)
        for column, value in ((2, largest), (3, 3), (4, 1.0)):
            texts = (self.model.shown(value, column), self.model.headings[column])
            width = max(metrics.horizontalAdvance(text) for text in texts) + _CELL_MARGIN
            if self.table.columnWidth(column) != width:
                self.table.setColumnWidth(column, width)

    def _sort_by(self, column: int) -> None:
        before, order = self._sorted
        descending = column == before and order == Qt.SortOrder.AscendingOrder
        self._sorted = (column, Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder)
        self.refresh()

    def _current_changed(self, current: QModelIndex) -> None:
        if self._filling or not current.isValid():
            return
        cluster_id = self.model.rows[current.row()][0]
        self._document.select_cluster(cluster_id)
        self.flown.emit(cluster_id)

    def _selection_changed(self) -> None:
        """Follow the document without telling it again."""
        wanted = self._document.cluster_id
        current = self.table.currentIndex()
        if current.isValid() and self.model.rows[current.row()][0] == wanted:
            return
        for row, values in enumerate(self.model.rows):
            if values[0] == wanted:
                self._filling = True
                flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
                self.table.selectionModel().setCurrentIndex(self.model.index(row, 1), flags)
                self._filling = False
                return


def progress_line(labels: LabelSet) -> str:
    """`5 of 8 named, 1 resists, 2 to go`"""
    count = labels.progress()
    if not count.total:
        return "No cluster: every row is noise." if rest_title(labels.method) == "noise" else "No clusters."
    parts = [f"{count.named} of {count.total} named"]
    if count.resists:
        parts.append(f"{count.resists} resists" if count.resists == 1 else f"{count.resists} resist")
    parts.append(f"{count.unnamed} to go" if count.unnamed else "done")
    return " · ".join(parts)
