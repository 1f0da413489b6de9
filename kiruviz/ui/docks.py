"""The docks of the window: made from the one list, and which of those in one place is in front."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDockWidget, QScrollArea, QTabBar, QTabWidget, QVBoxLayout, QWidget

from kiruviz.ui.panes import DOCKS, DockSpec
from kiruviz.ui.theme import LEFT_WIDTH, RIGHT_WIDTH
from kiruviz.ui.widgets.grip import Grip

if TYPE_CHECKING:
    from kiruviz.ui.window import MainWindow

_AREAS = {"left": Qt.DockWidgetArea.LeftDockWidgetArea, "right": Qt.DockWidgetArea.RightDockWidgetArea}


class Docks:
    """The docks by name, put into the window as they are at first."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._looked_at: tuple[int | None, int | None] = (None, None)
        self.by_name: dict[str, QDockWidget] = {}
        window.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        for spec in DOCKS:
            dock = _make_dock(spec, [getattr(window, name) for name in spec.panes], window)
            self.by_name[spec.name] = dock
            window.addDockWidget(_AREAS[spec.side], dock)
            if spec.beside:
                window.tabifyDockWidget(self.by_name[spec.beside], dock)
        docks = self.by_name
        window.resizeDocks([docks["setup"], docks["clusters"]], [LEFT_WIDTH, RIGHT_WIDTH], Qt.Orientation.Horizontal)
        window.resizeDocks([docks["clusters"], docks["evidence"]], [350, 350], Qt.Orientation.Vertical)
        docks["evidence"].raise_()
        for bar in window.findChildren(QTabBar):
            bar.setAccessibleName("Lists")

    def show(self, name: str) -> None:
        """Bring a dock to the front, also where it was hidden."""
        self.by_name[name].show()
        self.by_name[name].raise_()

    def follow_selection(self) -> None:
        """A point that is chosen shows its neighbours, and another cluster then its evidence. Whoever works in the
        list of members, or keeps it in front, keeps it."""
        window = self._window
        before, self._looked_at = self._looked_at, (window.document.focus, window.document.cluster_id)
        focus, cluster_id = self._looked_at
        if window.members_pane.isAncestorOf(window.focusWidget() or window):
            return
        neighbors = self.by_name["neighbors"]
        if focus is not None and focus != before[0]:
            neighbors.raise_()
        elif cluster_id is not None and cluster_id != before[1]:
            in_front = not neighbors.widget().visibleRegion().isEmpty()
            evidence = self.by_name["evidence"]
            if in_front and evidence in window.tabifiedDockWidgets(neighbors):
                evidence.raise_()


def _make_dock(spec: DockSpec, panes: list[QWidget], parent: QWidget) -> QDockWidget:
    dock = QDockWidget(spec.title, parent)
    dock.setObjectName(spec.name)
    content = QWidget()
    content.setObjectName("panel")
    box = QVBoxLayout(content)
    box.setContentsMargins(0, 0, 0, 0)
    box.setSpacing(0)
    if spec.scrolls:
        box.addWidget(_scrolling(panes, spec.title), 1)
        content.setMinimumWidth(LEFT_WIDTH - 12 if spec.side == "left" else RIGHT_WIDTH - 36)
    else:
        box.addWidget(panes[0], 1)
        if panes[1:]:
            box.addWidget(_scrolling(panes[1:], spec.title))
        content.setMinimumWidth(RIGHT_WIDTH - 36)
    dock.setWidget(content)
    dock.setTitleBarWidget(Grip(spec.title))
    return dock


class SnugScroll(QScrollArea):
    """As high as what is in it, where there is room; else it scrolls."""

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self._content = content
        self.setWidget(content)

    def sizeHint(self) -> QSize:
        return self._content.sizeHint()

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), min(150, self.sizeHint().height()))


def _scrolling(panes: list[QWidget], title: str) -> QScrollArea:
    inside = QWidget()
    inside.setObjectName("panel")
    inner = QVBoxLayout(inside)
    inner.setContentsMargins(0, 0, 0, 0)
    inner.setSpacing(0)
    for pane in panes:
        inner.addWidget(pane)
    inner.addStretch(1)
    area = SnugScroll(inside)
    area.setAccessibleName(title)
    area.setObjectName("panel")
    area.setWidgetResizable(True)
    # Reached by Tab; but a click on what is in it must not take the keyboard away from a table or field.
    area.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return area
