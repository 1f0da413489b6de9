"""The main window: the parts, and how they hear of each other."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
from PySide6.QtCore import QByteArray, QEvent, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QIcon, QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMainWindow,
    QMenu,
    QMenuBar,
    QSizePolicy,
    QStatusBar,
    QWidget,
)

from kiruviz.jobs.helper import JobError
from kiruviz.jobs.runner import JobRunner
from kiruviz.paths import cache_dir, resource
from kiruviz.session.recover import UntitledInfo
from kiruviz.tasks import recovery
from kiruviz.ui.actions import ActionSet
from kiruviz.ui.command_palette import CommandPalette
from kiruviz.ui.commands import Commands
from kiruviz.ui.conductor import Conductor
from kiruviz.ui.docks import Docks
from kiruviz.ui.document import Document
from kiruviz.ui.export_dialog import ExportDialog
from kiruviz.ui.figure_subjects import MapSubject, Subject
from kiruviz.ui.keys import keymap, tip_with_key
from kiruviz.ui.panes.clusters import ClustersPane
from kiruviz.ui.panes.drawing import DrawingPane
from kiruviz.ui.panes.evidence import EvidencePane
from kiruviz.ui.panes.map import MapPane, MapTools
from kiruviz.ui.panes.members import MembersPane
from kiruviz.ui.panes.model import ModelPane
from kiruviz.ui.panes.neighbors import NeighborsPane
from kiruviz.ui.panes.space import SpacePane
from kiruviz.ui.panes.this_cluster import ThisClusterPane
from kiruviz.ui.search import Search
from kiruviz.ui.settings import Settings
from kiruviz.ui.shortcuts import ShortcutsDialog
from kiruviz.ui.theme import Theme, ThemeKeeper
from kiruviz.ui.widgets.basics import button, label, plain_caption
from kiruviz.ui.widgets.progress import JobStrip

_log = logging.getLogger(__name__)
_TOLD_MS = 6000
# The list of members has its own M and Del.
_KEYS_IN_MEMBERS = ("resist", "unname", "next_unnamed", "sure_1", "sure_2", "sure_3")


class MainWindow(QMainWindow):
    """The window of one document."""

    def __init__(self, themes: ThemeKeeper, settings: Settings) -> None:
        super().__init__()
        self.themes = themes
        self.settings = settings
        self.runner = JobRunner(str(cache_dir("numba")))
        self.document = Document()
        self.conductor = Conductor(self.document, self.runner)
        self.commands = Commands(self)
        self.actions_by_name = ActionSet(self.commands, self)
        keymap().changed.connect(self._apply_keys)
        keymap().use(settings)
        self._export_dialog: ExportDialog | None = None
        self._shortcuts: ShortcutsDialog | None = None
        self.setWindowTitle("KiruViz")
        self.setWindowIcon(QIcon(str(resource("icons", "kiruviz.svg"))))
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(False)
        self._make_panes()
        self._make_header()
        self._make_docks()
        self._make_status()
        self.command_palette = CommandPalette(self)
        self._connect()
        self._apply_theme(themes.theme)
        self.resize(1440, 900)
        self._default_state = self.saveState()
        if (layout := settings.layout()) is not None:
            self.restoreGeometry(layout[0])
            self.restoreState(layout[1])

    # Parts

    def _make_panes(self) -> None:
        document, conductor, actions = self.document, self.conductor, self.actions_by_name
        tools = MapTools(actions["pan"], actions["lasso"], actions["fit"])
        self.model_pane = ModelPane(conductor)
        self.space_pane = SpacePane(document, conductor)
        self.drawing_pane = DrawingPane(document, conductor)
        self.clusters_pane = ClustersPane(document)
        self.this_cluster = ThisClusterPane(document)
        self.evidence_pane = EvidencePane(document)
        self.members_pane = MembersPane(document, conductor)
        self.neighbors_pane = NeighborsPane(document, conductor)
        self.map_pane = MapPane(document, conductor, tools)
        self.setCentralWidget(self.map_pane)
        actions["pan"].setChecked(True)
        actions["color_cluster"].setChecked(True)
        actions[f"theme_{self.themes.choice}"].setChecked(True)

    def _make_header(self) -> None:
        header = QWidget()
        header.setObjectName("header")
        header.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        header.setFixedHeight(44)
        box = QHBoxLayout(header)
        box.setContentsMargins(14, 0, 12, 0)
        box.setSpacing(10)
        brand = label("KiruViz", "brand")
        box.addWidget(brand)
        bar = QMenuBar(header)
        self.menus = self.actions_by_name.fill(bar)
        bar.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        box.addWidget(bar, 1, Qt.AlignmentFlag.AlignVCenter)
        self.search = Search(self.document, self.conductor)
        box.addWidget(self.search)
        export = self.actions_by_name["export_figure"]
        self.export_button = button("Export figure", export.trigger, "primary")
        tip_with_key(self.export_button, "Save the map as a picture", "export_figure")
        box.addWidget(self.export_button)
        self.setMenuWidget(header)
        self._recent = QMenu("Open recent", self)
        self.menus["File"].insertMenu(self.actions_by_name["save"], self._recent)
        self.fill_recent()

    def _make_docks(self) -> None:
        self.docks = Docks(self)
        for dock in self.docks.by_name.values():
            self.menus["Window"].addAction(dock.toggleViewAction())
        self.menus["Window"].addSeparator()
        self.menus["Window"].addAction("Reset the layout", self._reset_layout)
        link = button("What am I looking at?", self.commands.explain, "link")
        tip_with_key(link, "The map explained, with a lesson", "about_map")
        link.setContentsMargins(14, 0, 14, 0)
        self.learn_link = link
        left = self.docks.by_name["setup"].widget().layout()
        assert left is not None
        holder = QWidget()
        inner = QHBoxLayout(holder)
        inner.setContentsMargins(14, 6, 14, 8)
        inner.addWidget(link)
        inner.addStretch(1)
        left.addWidget(holder)
        self.docks.by_name["clusters"].widget().addActions(self.actions_by_name.label_keys())
        self.map_pane.canvas.addActions(self.actions_by_name.label_keys())
        self.members_pane.addActions([self.actions_by_name[name] for name in _KEYS_IN_MEMBERS])

    def _make_status(self) -> None:
        bar = QStatusBar()
        bar.setSizeGripEnabled(False)
        bar.setContentsMargins(10, 0, 10, 0)
        self.status = label("", "muted")
        # A long sentence must not make the window wider.
        self.status.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.strip = JobStrip()
        bar.addWidget(self.status, 1)
        bar.addPermanentWidget(self.strip)
        self.setStatusBar(bar)
        self._told = QTimer(self)
        self._told.setSingleShot(True)
        self._told.setInterval(_TOLD_MS)
        self._told.timeout.connect(self._show_state)

    def _connect(self) -> None:
        document, conductor = self.document, self.conductor
        self.themes.changed.connect(self._apply_theme)
        self.runner.job_started.connect(self.strip.watch)
        conductor.failed.connect(self.show_error)
        conductor.tables_found.connect(self.commands.choose_table)
        conductor.told.connect(self.tell)
        for signal in (document.session_changed, document.space_changed):
            signal.connect(self.commands.views.refresh)
        document.coords_changed.connect(self.commands.views.places_changed)
        conductor.names_moved.connect(self.commands.labels.offer_report)
        self.clusters_pane.report_wanted.connect(self.commands.labels.report)
        self.model_pane.open_wanted.connect(self.commands.open_model_folder)
        self.space_pane.chosen.connect(self.commands.show_space)
        self.space_pane.failed.connect(self.show_sentence)
        self.drawing_pane.wanted.connect(conductor.draw)
        self.drawing_pane.grouping.curve.addAction(self.actions_by_name["export_curve"])
        self.clusters_pane.flown.connect(lambda _: self.map_pane.select_rows_shown())
        self.clusters_pane.table.activated_row.connect(lambda _: self.commands.rename())
        self.clusters_pane.table.key_pressed.connect(self._labelling_key)
        self.map_pane.cluster_key.connect(self._labelling_key)
        self.this_cluster.next_wanted.connect(self._name_kept)
        self.this_cluster.left.connect(self.clusters_pane.table.setFocus)
        self.this_cluster.resist_wanted.connect(self.commands.resist)
        self.map_pane.colored.connect(lambda by: self.actions_by_name[f"color_{by}"].setChecked(True))
        self.evidence_pane.cluster_wanted.connect(self.commands.go_to_cluster)
        self.evidence_pane.resist_wanted.connect(self.commands.resist)
        self.members_pane.row_wanted.connect(self._go_to_row)
        self.members_pane.left.connect(self.clusters_pane.table.setFocus)
        self.members_pane.told.connect(self.tell)
        self.neighbors_pane.token_activated.connect(self._show_token)
        self.neighbors_pane.copy.clicked.connect(lambda: self.commands.copy_python("neighbors"))
        self.search.lit.connect(self.map_pane.light)
        self.search.chosen.connect(self._go_to_row)
        self.search.token_chosen.connect(self._show_token)
        self.command_palette.row_chosen.connect(self._go_to_row)
        self.command_palette.token_chosen.connect(self._show_token)
        document.space_changed.connect(self._told.stop)  # other rows are news enough
        for signal in (document.space_changed, document.labels_changed, document.session_changed):
            signal.connect(self._show_state)
        document.coords_changed.connect(lambda _: self._show_state())
        document.members_changed.connect(conductor.describe)
        document.selection_changed.connect(self.docks.follow_selection)

    # First start

    def start(self, path: str | None) -> None:
        """Begin with a model or session, by default the starter; called once the window is on screen."""
        self.conductor.warm_up()
        if path is None:
            self.conductor.open_model("smollm2")
            self._look_for_untitled()
        elif path.endswith(".kiru"):
            self.commands.open_path(Path(path))
            if self.document.session is None:  # it could not be opened, and the banner says why
                self.conductor.open_model("smollm2")
        else:
            self.commands.open_model(path)

    def _look_for_untitled(self) -> None:
        # In the lane that opens the model: it is done before this window has a session of its own.
        job = self.runner.start("model", "Looking for sessions", recovery.untitled_sessions, quiet=True)
        job.succeeded.connect(self._offer_untitled)

    def _offer_untitled(self, found: list[UntitledInfo]) -> None:
        """Offer the newest session that was left without a name."""
        if found:
            info = found[0]
            self.map_pane.banner.say(
                _untitled_sentence(info),
                choices=(("Continue with it", lambda: self.commands.restore(info)), ("Not now", lambda: None)),
            )

    # Messages

    def tell(self, sentence: str) -> None:
        """Say something in the status line for a while."""
        self.status.setText(sentence)
        self._told.start()

    def show_error(self, error: JobError) -> None:
        """A job failed: the sentence on the map, the traceback in the fold and in the log."""
        if error.details:
            _log.error("%s\n%s", error.sentence, error.details)
        self.map_pane.banner.say(error.sentence, error.details)
        self.map_pane.canvas.scene.note = ""
        self.map_pane.canvas.refresh()

    def show_sentence(self, sentence: str) -> None:
        self.show_error(JobError(sentence))

    def state_line(self) -> str:
        """What is on screen: model, table, rows, transform, projection."""
        record = self.document.record
        if record is None:
            return ""
        kind = "input embedding" if record.recipe.kind == "token" else "output embedding"
        rows = "1 row" if len(record) == 1 else f"{len(record):,} rows"
        parts = [record.model_title, kind, rows, record.recipe.transform.describe()]
        if self.document.projection is not None:
            method, params = self.document.projection
            parts.append(f"UMAP {params.get('metric', '')}".strip() if method == "umap" else "PCA")
        return " · ".join(parts)

    def _show_state(self) -> None:
        """What is on screen, in the status line; the title; which actions are possible."""
        document, session = self.document, self.document.session
        # A sentence that was just said stays for its time.
        if not self._told.isActive():
            self.status.setText(self.state_line())
        name = session.title if session is not None else "KiruViz"
        self.setWindowTitle(f"{name} – KiruViz" if session is not None else name)
        actions = self.actions_by_name
        undo = session.undo_title if session is not None else None
        redo = session.redo_title if session is not None else None
        actions["undo"].setText(plain_caption(f"Undo {undo}") if undo else "Undo")
        actions["redo"].setText(plain_caption(f"Redo {redo}") if redo else "Redo")
        actions["undo"].setEnabled(undo is not None)
        actions["redo"].setEnabled(redo is not None)
        for name in ("export_figure", "export_table", "export_labels"):
            actions[name].setEnabled(document.coords is not None)
        self.export_button.setEnabled(document.coords is not None)

    # Labelling with the keyboard

    def _labelling_key(self, event: QKeyEvent) -> None:
        """Keys of the map and the table that are no shortcuts elsewhere."""
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.commands.rename()
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.commands.step_cluster(-1 if key == Qt.Key.Key_Up else 1)
        elif key == Qt.Key.Key_Escape:
            self.document.set_lasso(np.zeros(0, np.int64))
            self.document.set_focus(None)

    def _name_kept(self) -> None:
        self.clusters_pane.table.setFocus()
        self.commands.next_unnamed()

    # Tokens

    def _go_to_row(self, row: int) -> None:
        self.document.set_focus(row)
        self.map_pane.canvas.fly_to(np.array([row], np.int64))

    def _show_token(self, token_id: int, token: str) -> None:
        """Show a token's neighbours, and its point if it is on the map."""
        record = self.document.record
        found = np.flatnonzero(record.row_ids == token_id) if record is not None else np.zeros(0, np.int64)
        if len(found):
            self._go_to_row(int(found[0]))
        else:
            self.document.set_focus(None)
            self.neighbors_pane.ask((token_id,), token)

    # Figures

    def show_export_dialog(self) -> None:
        if self.document.session is None or self.document.coords is None:
            self.tell("There is no map to export yet.")
            return
        session, document = self.document.session, self.document
        shown = session.projection(document.space_id) if document.space_id is not None else None
        if shown is None:
            self.tell("The map is still being drawn; export it when it stands still.")
            return
        self.keep_view()
        view = replace(self.map_pane.view(), selected=tuple(document.selected_rows.tolist()))
        self.show_figure(MapSubject(session, shown, view))

    def show_figure(self, subject: Subject) -> None:
        """Open the export dialog on a picture."""
        if self._export_dialog is not None:
            self._export_dialog.close()
        self._export_dialog = ExportDialog(self, subject)
        self._export_dialog.open()

    def keep_view(self) -> None:
        """Write how the map is looked at into the session, where exports read it."""
        session = self.document.session
        if session is not None:
            view = self.map_pane.view()
            session.set_view("map", {"color_by": view.color_by, "rectangle": view.rectangle})

    def show_shortcuts(self) -> None:
        if self._shortcuts is None:
            self._shortcuts = ShortcutsDialog(self)
        self._shortcuts.open()

    # The window itself

    def fill_recent(self) -> None:
        self._recent.clear()
        for path in self.settings.recent:
            action = self._recent.addAction(plain_caption(Path(path).name))
            action.triggered.connect(lambda _=False, path=path: self.commands.open_path(Path(path)))
        self._recent.setEnabled(not self._recent.isEmpty())

    def _apply_keys(self) -> None:
        self.actions_by_name.set_keys(keymap().key)

    def _reset_layout(self) -> None:
        self.restoreState(self._default_state)

    def _apply_theme(self, theme: Theme) -> None:
        for pane in (
            self.map_pane,
            self.clusters_pane,
            self.drawing_pane,
            self.evidence_pane,
            self.members_pane,
            self.neighbors_pane,
        ):
            pane.set_theme(theme)
        self.actions_by_name[f"theme_{self.themes.choice}"].setChecked(True)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.commands.open_path(paths[0])

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.WindowDeactivate:
            self.search.popup.hide()
        return super().event(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Keep view and layout, end every job. What was named is on disk already."""
        self.settings.keep_layout(self.saveGeometry(), QByteArray(self.saveState()))
        self.this_cluster.keep_typed()
        self.keep_view()
        self.runner.close()
        self.document.close()
        event.accept()


def _untitled_sentence(info: UntitledInfo) -> str:
    when = datetime.fromtimestamp(info.time).strftime("%d %B, %H:%M")
    names = "1 name" if info.named == 1 else f"{info.named} names"
    resisting = f" and {info.resists} resisting" if info.resists else ""
    return f"A session without a name from {when} is here, with {names}{resisting} ({info.space_title})."
