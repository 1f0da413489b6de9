"""The card beside the pointer: what is known about one row."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from kiruviz.analysis.grouping import rest_title
from kiruviz.session.labels import LabelSet
from kiruviz.session.records import SpaceRecord
from kiruviz.space import display_name
from kiruviz.tasks.spaces import NeighborList
from kiruviz.ui.theme import token_font
from kiruviz.ui.widgets.basics import label, number

_GAP = 16


class HoverCard(QFrame):
    """Token, id, norm, frequency, cluster, and the nearest five of the whole table."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parent = parent
        self._at = QPoint()
        self.setObjectName("card")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.row = -1
        self._token = label("")
        self._token.setFont(token_font(14))
        self._facts = label("", "small")
        self._cluster = label("", "small")
        self._nearest = label("", "small", wrap=True)
        self._nearest.setFixedWidth(216)
        box = QVBoxLayout(self)
        box.setContentsMargins(12, 9, 12, 10)
        box.setSpacing(4)
        for part in (self._token, self._facts, self._cluster, self._nearest):
            box.addWidget(part)
        self.hide()

    def show_row(self, row: int, record: SpaceRecord, labels: LabelSet | None, at: QPoint) -> None:
        """Show what is known at once; the nearest follow."""
        self.row = row
        columns = record.columns
        self._token.setText(display_name(record.names[row]))
        pieces = int(columns["pieces"][row])
        row_id = int(record.row_ids[row])
        facts = [f"id {row_id}" if row_id >= 0 else f"{pieces} tokens, their mean"]
        if pieces > 1 and row_id >= 0:
            facts.append(f"first of {pieces} tokens")
        facts.append(f"norm {float(columns['norm'][row]):.2f}")
        zipf = float(columns["zipf"][row])
        facts.append(f"Zipf {zipf:.1f}" if np.isfinite(zipf) else str(columns["kind"][row]))
        self._facts.setText(" · ".join(facts))
        self._cluster.setText(_cluster_line(labels, row))
        self._cluster.setVisible(labels is not None)
        self._nearest.setText("")
        self._place(at)

    def show_nearest(self, found: NeighborList) -> None:
        words = ", ".join(f"{display_name(n.token).lstrip('·')} {number(n.score, 2)}" for n in found.neighbors)
        self._nearest.setText(f"Nearest  {words}")
        self._place(self._at)

    def _place(self, at: QPoint) -> None:
        """Beside the pointer, inside the canvas."""
        self._at = at
        self.adjustSize()
        area = self._parent.rect()
        x = at.x() + _GAP if at.x() + _GAP + self.width() < area.width() - 8 else at.x() - _GAP - self.width()
        y = at.y() + _GAP if at.y() + _GAP + self.height() < area.height() - 8 else at.y() - _GAP - self.height()
        self.move(max(8, x), max(8, y))
        self.show()
        self.raise_()


def _cluster_line(labels: LabelSet | None, row: int) -> str:
    if labels is None:
        return ""
    cluster = labels.clusters.get(int(labels.assignment[row]))
    if cluster is None:
        return "noise" if rest_title(labels.method) == "noise" else "in no cluster"
    return cluster.title
