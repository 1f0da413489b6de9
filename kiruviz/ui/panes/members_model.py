"""The rows of the member list: which there are, in what order, which are checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from kiruviz.session.records import SpaceRecord
from kiruviz.space import display_name
from kiruviz.ui.theme import token_font
from kiruviz.ui.widgets.basics import number
from kiruviz.ui.widgets.tables import SORT_ROLE

Index = QModelIndex | QPersistentModelIndex
Positions = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]

WORD, DISTANCE, ZIPF = range(3)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_TIPS = (
    "Click to sort",
    "Euclidean distance to the centroid, on the rows as they were clustered; of rows set aside, to the nearest one",
    "How frequent the word is: Zipf, log10 of its count in a billion words",
)
_ITEM = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren


class MembersModel(QAbstractTableModel):
    """word, distance, zipf of the members; nothing is made for a row before it is looked at.

    Attributes:
        rows: (m,) positions of the listed rows, in the order shown
        members: (k,) positions of all members, whether the filter lets them through or not

    checks_changed() when other rows are checked.
    """

    checks_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.headings = ("word", "distance", "zipf")
        self.rows: Positions = np.zeros(0, np.int64)
        self.members: Positions = np.zeros(0, np.int64)
        self.order: tuple[int, bool] = (DISTANCE, False)
        self._record: SpaceRecord | None = None
        self._folded: list[str] = []
        self._zipf: Values = np.zeros(0)
        self._distances: Values | None = None
        self._settled = False  # whether the distances are those of the members as they are now
        self._checked: npt.NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._pattern = ""
        self._font = token_font()

    # What is listed

    def set_record(self, record: SpaceRecord | None) -> None:
        """The rows of another map; none of them is listed yet."""
        self.beginResetModel()
        self._record = record
        n = 0 if record is None else len(record)
        zipf = None if record is None else record.columns.get("zipf")
        self._zipf = np.full(n, np.nan) if zipf is None else np.asarray(zipf, np.float64)
        self._folded = []
        self._distances = None
        self._settled = False
        self._checked = np.zeros(n, np.bool_)
        self.members = self.rows = np.zeros(0, np.int64)
        self.endResetModel()

    def set_members(self, members: Positions) -> None:
        """List other members; checks of rows that are no longer among them are let go."""
        kept = np.zeros_like(self._checked)
        kept[members] = self._checked[members]
        self._checked = kept
        self.members = np.asarray(members, np.int64)
        self._arrange()
        self.checks_changed.emit()

    def set_distances(self, distances: Values | None) -> None:
        """Distances of all rows of the map, None while they are on their way: the order of the last ones stays.
        Those of other rows, which a late job may bring, are none."""
        if distances is not None and len(distances) != len(self._checked):
            distances = None
        self._settled = distances is not None
        if distances is not None:
            self._distances = np.asarray(distances, np.float64)
            self._arrange()
        elif len(self.rows):
            self.dataChanged.emit(self.index(0, DISTANCE), self.index(len(self.rows) - 1, DISTANCE))

    def set_filter(self, pattern: str) -> None:
        """List only members that contain `pattern`, whatever the case."""
        if pattern.casefold() != self._pattern:
            self._pattern = pattern.casefold()
            self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.order = (column, order == Qt.SortOrder.DescendingOrder)
        self._arrange()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.headings) - 1)

    def _arrange(self) -> None:
        self.beginResetModel()
        self.rows = self._sorted(self._passing())
        self.endResetModel()

    def _passing(self) -> Positions:
        if not self._pattern:
            return self.members
        names, pattern = self._names_folded(), self._pattern
        passing = [i for i in self.members.tolist() if pattern in names[i]]
        return np.array(passing, np.int64)

    def _sorted(self, rows: Positions) -> Positions:
        column, descending = self.order
        if column == WORD:
            names = self._names_folded()
            return np.array(sorted(rows.tolist(), key=names.__getitem__, reverse=descending), np.int64)
        values = self._zipf if column == ZIPF else self._distances
        if values is None or not len(rows):
            return rows
        chosen = values[rows]
        # What has no value comes last, either way round.
        return rows[np.argsort(-chosen if descending else chosen, kind="stable")]

    def _names_folded(self) -> list[str]:
        if not self._folded and self._record is not None:
            self._folded = [name.strip().casefold() for name in self._record.names]
        return self._folded

    def columns(self, places: Sequence[int]) -> dict[str, list[Any]]:
        """`row_id, token, distance, zipf` of the rows at these places of the list: exact, None for no value."""
        rows = self.rows[np.asarray(places, np.int64)]
        names = self._record.names if self._record is not None else ()
        ids = self._record.row_ids[rows].tolist() if self._record is not None else []
        distances = self._distances if self._settled else None
        return {
            "row_id": [None if i < 0 else i for i in ids],
            "token": [names[i] for i in rows.tolist()],
            "distance": [None] * len(rows) if distances is None else _defined(distances[rows]),
            "zipf": _defined(self._zipf[rows]),
        }

    # Checks

    @property
    def checked(self) -> Positions:
        """Positions of the checked rows, ascending; those the filter hides are among them."""
        return np.flatnonzero(self._checked).astype(np.int64)

    def check(self, rows: npt.ArrayLike, on: bool) -> None:
        """Check or uncheck rows by their positions."""
        self._checked[np.asarray(rows, np.int64)] = on
        self._redraw_checks()

    def uncheck_all(self) -> None:
        self._checked[:] = False
        self._redraw_checks()

    def is_checked(self, row: int) -> bool:
        """Whether the row at place `row` of the list is checked."""
        return bool(self._checked[self.rows[row]])

    def _redraw_checks(self) -> None:
        if len(self.rows):
            self.dataChanged.emit(self.index(0, WORD), self.index(len(self.rows) - 1, WORD))
        self.checks_changed.emit()

    # What a view asks

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.headings)

    def flags(self, index: Index) -> Qt.ItemFlag:
        return _ITEM | Qt.ItemFlag.ItemIsUserCheckable if index.column() == WORD else _ITEM

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        column = index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._shown(int(self.rows[index.row()]), column)
        if role == Qt.ItemDataRole.CheckStateRole and column == WORD:
            return Qt.CheckState.Checked if self.is_checked(index.row()) else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.TextAlignmentRole and column != WORD:
            return _RIGHT
        if role == Qt.ItemDataRole.FontRole and column == WORD:
            return self._font
        if role == SORT_ROLE:
            return self._value(int(self.rows[index.row()]), column)
        if role == Qt.ItemDataRole.AccessibleTextRole and column == WORD:
            name = self._shown(int(self.rows[index.row()]), column)
            return f"{name}, checked" if self.is_checked(index.row()) else name
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.CheckStateRole or index.column() != WORD:
            return False
        self.check([self.rows[index.row()]], Qt.CheckState(value) == Qt.CheckState.Checked)
        return True

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            column, descending = self.order
            arrow = (" ↓" if descending else " ↑") if section == column else ""
            return self.headings[section] + arrow
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if section == WORD else _RIGHT
        if role == Qt.ItemDataRole.ToolTipRole:
            return _TIPS[section]
        return None

    def _value(self, position: int, column: int) -> Any:
        """What is copied: the exact name, the number itself, None where there is none."""
        if column == WORD:
            return self._record.names[position] if self._record is not None else ""
        values = self._zipf if column == ZIPF else self._distances
        if values is None or (column == DISTANCE and not self._settled):
            return None
        value = float(values[position])
        return None if value != value else value

    def shown(self, row: int, column: int) -> str:
        """What a cell says."""
        return self._shown(int(self.rows[row]), column)

    def _shown(self, position: int, column: int) -> str:
        value = self._value(position, column)
        if column == WORD:
            return display_name(value)
        if value is None:
            return "" if column == DISTANCE and not self._settled else "–"
        return number(value, 1) if column == ZIPF else number(value, 3 if value < 100 else 1)


def _defined(values: Values) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]
