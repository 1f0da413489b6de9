"""The map workspace: the canvas, its tools, the hover card, and what stands on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from kiruviz.palette import ALL_DIFFERENT, cluster_color, neutral_color
from kiruviz.tasks.exports import MapView
from kiruviz.ui.conductor import Conductor
from kiruviz.ui.document import Document
from kiruviz.ui.keys import tip_with_key
from kiruviz.ui.map.canvas import MapCanvas
from kiruviz.ui.map.colouring import COLOR_BY, ColorBy, color_rows
from kiruviz.ui.map.hover_card import HoverCard
from kiruviz.ui.map.scene import NameMark, Scene, ShownWords
from kiruviz.ui.map.spots import Spots
from kiruviz.ui.theme import Theme
from kiruviz.ui.widgets.banner import Banner
from kiruviz.ui.widgets.basics import Choice, button, label
from kiruviz.ui.widgets.learn import LearnSheet

# The pointer rests this long before the nearest rows are looked up.
_HOVER_MS = 120
# Kinds that the legend lists; of more it says how many.
_KIND_LINES = 12


@dataclass(frozen=True)
class MapTools:
    """The actions that stand on the map's toolbar."""

    pan: QAction
    lasso: QAction
    fit: QAction


class MapPane(QWidget):
    """Shows the document as a map.

    cluster_key(event) is emitted for labelling keys pressed on the map, colored(by) for another colouring.
    """

    cluster_key = Signal(object)
    colored = Signal(str)

    def __init__(self, document: Document, conductor: Conductor, tools: MapTools) -> None:
        super().__init__()
        self._document = document
        self._conductor = conductor
        self._theme: Theme | None = None
        self.color_by: ColorBy = "cluster"
        self.canvas = MapCanvas()
        self.canvas.scene.note = "Opening the model…"
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self.canvas)
        self.toolbar = self._make_toolbar(tools)
        self.kinds = KindLegend(self.canvas)
        self.lasso_bar = LassoBar(self.canvas, document)
        self.banner = Banner(self.canvas)
        self.sheet = LearnSheet(self.canvas)
        self.card = HoverCard(self.canvas)
        self.canvas.obstacles = [self.toolbar, self.kinds, self.lasso_bar]
        self.canvas.installEventFilter(self)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_HOVER_MS)
        self._rest.timeout.connect(self._ask_nearest)
        self._spots = Spots()
        self._more_spots = QTimer(self)
        self._more_spots.setSingleShot(True)
        self._more_spots.timeout.connect(self._find_spots)
        self._connect()

    def _connect(self) -> None:
        document = self._document
        document.space_changed.connect(self._space_changed)
        document.coords_changed.connect(self._coords_changed)
        document.labels_changed.connect(self.restyle)
        document.selection_changed.connect(self._selection_changed)
        self._conductor.hover_found.connect(self._nearest_found)
        self.canvas.hovered.connect(self._hovered)
        self.canvas.clicked.connect(self._clicked)
        self.canvas.named.connect(document.select_cluster)
        self.canvas.lassoed.connect(document.set_lasso)
        self.canvas.key_pressed.connect(self.cluster_key)

    def _make_toolbar(self, tools: MapTools) -> QFrame:
        bar = QFrame(self.canvas)
        bar.setObjectName("toolbar")
        box = QHBoxLayout(bar)
        box.setContentsMargins(6, 5, 6, 5)
        box.setSpacing(2)
        for action in (tools.pan, tools.lasso, tools.fit):
            tool = QToolButton()
            tool.setDefaultAction(action)
            tool.setAccessibleName(action.text().replace("&", ""))
            box.addWidget(tool)
        box.addSpacing(6)
        box.addWidget(label("colour by", "muted"))
        self.color_choice = Choice(COLOR_BY, "Colour by")
        self.color_choice.setFixedWidth(116)
        self.color_choice.chosen.connect(self.set_color_by)
        box.addSpacing(4)
        box.addWidget(self.color_choice)
        bar.adjustSize()
        bar.move(14, 12)
        return bar

    # From outside

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.canvas.set_theme(theme)
        self.restyle()

    def set_color_by(self, by: ColorBy) -> None:
        self.color_by = by
        self.color_choice.set_value(by)
        self.colored.emit(by)
        self.restyle()

    def light(self, rows: np.ndarray) -> None:
        """Light the rows a search found; none puts all back."""
        self.canvas.scene.lit = np.asarray(rows, np.int64)
        self.canvas.refresh()

    def view(self) -> MapView:
        """How the map is looked at."""
        return MapView(self.color_by, None if self.canvas.is_whole else self.canvas.view.rectangle)

    def restore_view(self, kept: dict[str, Any]) -> None:
        """Look at the map as a session says."""
        self.set_color_by(kept.get("color_by", "cluster"))
        rectangle = kept.get("rectangle")
        if rectangle:
            self.canvas.set_view_rectangle(tuple(rectangle))

    def select_rows_shown(self) -> None:
        """Bring the selected cluster into view."""
        rows = self._document.selected_rows
        if len(rows):
            self.canvas.fly_to(rows)

    # The document changed

    def _space_changed(self) -> None:
        record = self._document.record
        scene = Scene()
        if record is None:
            scene.note = "No rows are open."
        else:
            scene.note = f"Drawing {len(record):,} rows…"
        self._hovered(-1)
        self.canvas.show_scene(scene, fit=True)

    def _coords_changed(self, final: bool) -> None:
        record, coords = self._document.record, self._document.coords
        if record is None or coords is None:
            return
        if len(self.canvas.scene.coords) != len(coords):
            scene = Scene(coords=coords, names=ShownWords(record.names))
            zipf = np.asarray(record.columns["zipf"], float)
            scene.importance = np.where(np.isfinite(zipf), zipf, 0.0)
            self._style(scene)
            self.canvas.show_scene(scene, fit=True)
            return
        if final or (self.canvas.scene.marks and len(coords) <= 5000):
            self.canvas.scene.marks = self._marks(coords)
        self.canvas.move_to(coords, final)

    def restyle(self) -> None:
        """Colours, names and selection anew; what looks as before is not drawn again."""
        scene = self.canvas.scene
        before = (scene.colors, scene.bar, scene.selected, scene.cluster, scene.dimmed, scene.focus, scene.marks)
        self._style(scene)
        after = (scene.colors, scene.bar, scene.selected, scene.cluster, scene.dimmed, scene.focus, scene.marks)
        if not all(map(_alike, before, after)):
            self.canvas.recolor()

    def _style(self, scene: Scene) -> None:
        document = self._document
        if document.record is None or self._theme is None or len(scene.coords) != len(document.record):
            return
        coloring = color_rows(document.record, document.labels, self.color_by, self._theme.ground)
        scene.colors, scene.bar = coloring.colors, coloring.bar
        self.kinds.show_kinds(coloring.kinds)
        self._show_selected(scene)
        if document.coords is not None:
            scene.marks = self._marks(document.coords)

    def _marks(self, coords: np.ndarray) -> tuple[NameMark, ...]:
        """Names of named and resisting clusters; unnamed ones have none to show. Of very many some come a moment
        later."""
        labels, theme = self._document.labels, self._theme
        if labels is None or theme is None:
            return ()
        sizes = labels.sizes()
        named = [c for c in labels.clusters.values() if c.status != "unnamed" and c.cluster_id in sizes]
        named.sort(key=lambda cluster: -sizes[cluster.cluster_id])
        self._spots.follow(coords, labels)
        if not self._spots.find(cluster.cluster_id for cluster in named):
            self._more_spots.start()
        marks = []
        for cluster in named:
            spot = self._spots.at(cluster.cluster_id)
            if spot is None:
                continue
            resists = cluster.status == "resists"
            color = neutral_color(theme.ground) if resists else cluster_color(cluster.color, theme.ground)
            marks.append(NameMark(cluster.cluster_id, cluster.title, *spot, color, resists, sizes[cluster.cluster_id]))
        return tuple(marks)

    def _find_spots(self) -> None:
        coords = self._document.coords
        if coords is not None and len(coords) == len(self.canvas.scene.coords) and not self.canvas.is_moving:
            self.canvas.scene.marks = self._marks(coords)
            self.canvas.refresh()

    def _selection_changed(self) -> None:
        scene = self.canvas.scene
        if self._document.record is None or len(scene.coords) != len(self._document.record):
            return
        self._show_selected(scene)
        self.lasso_bar.refresh()
        self.canvas.recolor()

    def _show_selected(self, scene: Scene) -> None:
        document = self._document
        scene.selected = document.selected_rows
        scene.cluster = document.cluster_id
        shared = document.labels is not None and len(document.labels.clusters) > ALL_DIFFERENT
        scene.dimmed = shared and self.color_by == "cluster"
        scene.focus = document.focus

    # The hand

    def _clicked(self, row: int) -> None:
        document = self._document
        if row < 0:
            document.set_lasso(np.zeros(0, np.int64))
            document.set_focus(None)
            return
        labels = document.labels
        if labels is not None and int(labels.assignment[row]) >= 0:
            document.select_cluster(int(labels.assignment[row]))
        document.set_focus(row)

    def _hovered(self, row: int) -> None:
        self._rest.stop()
        if row < 0 or self._document.record is None or self.canvas.is_moving:
            self.card.hide()
            self.card.row = -1
            return
        place = self.canvas.place_of(row).toPoint()
        self.card.show_row(row, self._document.record, self._document.labels, place)
        self._rest.start()

    def _ask_nearest(self) -> None:
        record, row = self._document.record, self.card.row
        if record is None or row < 0:
            return
        row_id = int(record.row_ids[row])
        self._conductor.ask_hover(row, (row_id,) if row_id >= 0 else (), record.names[row])

    def _nearest_found(self, row: int, found: object) -> None:
        if row == self.card.row and self.card.isVisible():
            self.card.show_nearest(found)  # type: ignore[arg-type]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self.banner.place()
            self.sheet.place()
            self.lasso_bar.place()
            self.kinds.place()
        elif event.type() == QEvent.Type.Leave:
            self.card.hide()
        return super().eventFilter(watched, event)


def _alike(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return one == other


class LassoBar(QFrame):
    """What can be done with lassoed rows; shown while there are any."""

    def __init__(self, parent: QWidget, document: Document) -> None:
        super().__init__(parent)
        self._parent = parent
        self.setObjectName("toolbar")
        self._document = document
        self._count = label("", "muted")
        self._move = Choice(name="Move to cluster")
        self._move.setFixedWidth(150)
        self._move.chosen.connect(self._move_to)
        box = QHBoxLayout(self)
        box.setContentsMargins(12, 5, 6, 5)
        box.setSpacing(8)
        box.addWidget(self._count)
        box.addWidget(button("Make a cluster", self._make, tip="Put these rows in a cluster of their own"))
        box.addWidget(self._move)
        aside = button("Set aside", self._set_aside)
        tip_with_key(aside, "Take these rows out of every cluster", "set_aside")
        box.addWidget(aside)
        document.labels_changed.connect(self.refresh)
        self.hide()

    def refresh(self) -> None:
        rows, labels = self._document.lassoed, self._document.labels
        if not len(rows) or labels is None:
            self.hide()
            return
        self._count.setText(f"{len(rows):,} lassoed")
        items: list[tuple[object, str]] = [(None, "Move to…")]
        items += [(c, labels.clusters[c].title) for c in labels.order]
        self._move.set_items(items)
        self.adjustSize()
        self.show()
        self.raise_()
        self.place()

    def place(self) -> None:
        self.move((self._parent.width() - self.width()) // 2, self._parent.height() - self.height() - 14)

    def _make(self) -> None:
        rows = self._document.lassoed
        colors = self._document.new_colors(rows)
        self._document.label(lambda session: session.new_cluster(rows, colors))
        labels = self._document.labels
        if labels is not None and len(rows):
            self._document.select_cluster(int(labels.assignment[rows[0]]))

    def _move_to(self, cluster_id: object) -> None:
        if isinstance(cluster_id, int):
            rows = self._document.lassoed
            self._document.label(lambda session: session.move(rows, cluster_id))
            self._document.select_cluster(cluster_id)

    def _set_aside(self) -> None:
        rows = self._document.lassoed
        self._document.label(lambda session: session.set_aside(rows))
        self._document.set_lasso(np.zeros(0, np.int64))


class KindLegend(QFrame):
    """The legend of the colouring by token kind, at the lower left."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parent = parent
        self._shown: tuple[tuple[str, str], ...] = ()
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(3)
        self.hide()

    def show_kinds(self, kinds: tuple[tuple[str, str], ...]) -> None:
        """(kind, colour) from frequent to rare; none hides the legend."""
        if kinds != self._shown:
            self._shown = kinds
            while (item := self._box.takeAt(0)) is not None:
                if (widget := item.widget()) is not None:
                    widget.deleteLater()
            # One more than fits is shown in place of the line that would say so.
            most = _KIND_LINES if len(kinds) > _KIND_LINES + 1 else len(kinds)
            for kind, color in kinds[:most]:
                line = label(f"●  {kind}", "small")
                line.setStyleSheet(f"color: {color};")
                line.setAlignment(Qt.AlignmentFlag.AlignLeft)
                self._box.addWidget(line)
            if most < len(kinds):
                rest = label(f"and {len(kinds) - most} more", "small")
                rest.setToolTip(", ".join(kind for kind, _ in kinds[most:]))
                self._box.addWidget(rest)
        self.setVisible(bool(kinds))
        self.place()

    def place(self) -> None:
        self.adjustSize()
        self.move(20, self._parent.height() - self.height() - 18)
