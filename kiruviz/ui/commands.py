"""What each action does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMessageBox

from kiruviz import __version__
from kiruviz.analysis.grouping import ClusterSpec
from kiruviz.errors import UserError
from kiruviz.models.attach import is_tokenizer
from kiruviz.models.vectors.sniff import holds_vectors
from kiruviz.models.vectors.table import TableChoice
from kiruviz.session.recover import UntitledInfo
from kiruviz.session.store import Session
from kiruviz.space import Recipe
from kiruviz.tasks import exports, remake, vector_exports
from kiruviz.tasks.snippets import clusters_snippet, map_snippet, neighbors_snippet
from kiruviz.ui.figure_subjects import CurveSubject
from kiruviz.ui.keys import how, tipped
from kiruviz.ui.label_commands import LabelCommands
from kiruviz.ui.models_dialog import show_models
from kiruviz.ui.recoloring import recolor
from kiruviz.ui.table_picker import TablePicker
from kiruviz.ui.theme import ThemeChoice
from kiruviz.ui.views import ViewCommands

if TYPE_CHECKING:
    from kiruviz.ui.map.canvas import Tool
    from kiruviz.ui.map.colouring import ColorBy
    from kiruviz.ui.window import MainWindow

_SESSION_FILTER = "KiruViz session (*.kiru)"
_FIGURE_FILTER = "Figure of KiruViz (*.svg *.pdf *.png)"
_TABLE_FILTER = "CSV (*.csv);;Parquet (*.parquet)"
_VECTORS_FILTER = (
    "Parquet for Embedding Atlas (*.parquet);;word2vec text (*.vec);;NumPy (*.npz);;Embedding Projector, a folder (*)"
)
_LABELS_FILTER = "CSV (*.csv);;JSON (*.json);;Page to print (*.html)"


class Commands:
    """The verbs of the window. Each may be called at any time; what is not possible now says why."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.labels: LabelCommands = LabelCommands(window)
        self.views: ViewCommands = ViewCommands(window)

    # File

    def new_session(self) -> None:
        """Let the session go (it stays on disk) and draw the map on screen in a new one."""
        window = self._window
        record = window.document.record
        window.document.use_session(Session.untitled())
        if record is not None and window.conductor.info is not None:
            window.conductor.show_space(record.recipe)
        elif window.conductor.info is not None:
            window.conductor.open_model(window.conductor.info.card.source)
        else:
            window.conductor.open_model("smollm2")

    def open_session(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self._window, "Open session", "", f"{_SESSION_FILTER};;{_FIGURE_FILTER}")
        if name:
            self.open_path(Path(name))

    def open_path(self, path: Path) -> None:
        """Open a session, a figure's map, a model folder or file, or a list of words; a failure keeps what is open."""
        window = self._window
        session = window.document.session
        if session is not None and path.resolve() == session.path:
            window.tell(f"{path.name} is open already.")
        elif path.suffix == ".kiru":
            self._guarded(lambda: self._use(Session.open(path), path))
        elif path.suffix.lower() in exports.FIGURE_SUFFIXES:
            self._open_figure(path)
        elif path.is_file() and is_tokenizer(path) and self._waits_for_tokenizer():
            window.conductor.attach_tokenizer(path)
        elif path.is_file() and path.suffix in (".txt", ".tsv", ".csv") and not self._holds_vectors(path):
            window.space_pane.read_file(path)
        else:
            self.open_model(str(path.parent if path.name in ("config.json", "model.safetensors") else path))

    def _holds_vectors(self, path: Path) -> bool:
        """Whether a text file is vectors and not a list of words; one that cannot be read is said to be none."""
        try:
            return holds_vectors(path)
        except UserError:
            return False

    def _waits_for_tokenizer(self) -> bool:
        info = self._window.conductor.info
        return info is not None and bool(info.kinds) and not info.has_tokenizer

    def choose_table(self, ref: str, choices: Sequence[TableChoice]) -> None:
        """Ask which table of a file is wanted, and open it."""
        picker = TablePicker(self._window, ref, choices)
        picker.picked.connect(self.open_model)
        picker.open()

    def _open_figure(self, path: Path) -> None:
        """Make the map of one of our figures again, in a session of its own."""
        window = self._window
        # In the lane of UMAP, whose kernels are compiled there.
        title = f"Making the map of {path.name}"
        job = window.runner.start("layout", title, remake.open_figure, str(path), key="figure")
        job.succeeded.connect(lambda made: self._use_figure(path, *made))
        job.failed.connect(window.show_error)

    def _use_figure(self, figure: Path, session: str, notes: tuple[str, ...]) -> None:
        if self._guarded(lambda: self._use(Session.open(session), None)):
            self._remember(str(figure))
            self._window.tell(" ".join([f"The map of {figure.name}.", *notes]))

    def restore(self, info: UntitledInfo) -> None:
        """Continue an untitled session that was not saved."""
        self._guarded(lambda: self._use(Session.open(info.path), None))

    def _use(self, session: Session, path: Path | None) -> None:
        window = self._window
        window.conductor.cancel_drawing()
        window.document.use_session(session)
        if path is not None:
            self._remember(str(path))
        if window.document.record is not None:
            window.conductor.use_model_of(window.document.record)
            kept = session.view("map", {})
            window.map_pane.restore_view(kept)

    def save(self) -> bool:
        """Save a session that has a name; an untitled one asks for it. True when it is saved."""
        session = self._window.document.session
        if session is None:
            return False
        if session.is_untitled:
            return self.save_as()
        self._window.keep_view()
        if self._guarded(session.save):
            self._window.tell(f"Saved {session.path.name}")
            return True
        return False

    def save_as(self) -> bool:
        window = self._window
        if window.document.session is None:
            return False
        name, _ = QFileDialog.getSaveFileName(window, "Save session as", "labels.kiru", _SESSION_FILTER)
        if not name:
            return False
        path = Path(name) if name.endswith(".kiru") else Path(name + ".kiru")
        return self.save_to(path)

    def save_to(self, path: Path) -> bool:
        """Save the session in `path` and continue there."""
        window = self._window
        window.keep_view()
        if not self._guarded(lambda: window.document.save_as(path)):
            return False
        self._remember(str(path))
        window.tell(f"Saved {path.name}")
        return True

    def export_figure(self) -> None:
        self._window.show_export_dialog()

    def export_curve(self) -> None:
        """The curve beside the number of clusters, as a figure."""
        window = self._window
        curve = window.drawing_pane.grouping.curve_picture()
        if curve is None or window.document.session is None:
            window.tell("There is no curve yet: it stands beside the number of clusters once it is computed.")
            return
        window.show_figure(CurveSubject(window.document.session, curve))

    def export_table(self) -> None:
        self._export("Export table", "map.csv", _TABLE_FILTER, exports.export_table)

    def export_labels(self) -> None:
        self._export("Export labels", "labels.csv", _LABELS_FILTER, exports.export_labels)

    def export_vectors(self) -> None:
        self._export("Export vectors", "vectors.parquet", _VECTORS_FILTER, vector_exports.export_by_name)

    def _export(self, title: str, name: str, filters: str, task: Callable[..., str]) -> None:
        window = self._window
        session = window.document.session
        if session is None or window.document.coords is None:
            window.tell("There is no map to export yet.")
            return
        chosen, used = QFileDialog.getSaveFileName(window, title, name, filters)
        if not chosen:
            return
        if not Path(chosen).suffix:
            chosen += used[used.index("*") + 1 : used.index(")")]
        self.run_export(title, task, chosen)

    def run_export(self, title: str, task: Callable[..., str], out: str, *args: Any) -> None:
        """Write a file from the session in the helper for paper; the dialog has asked about replacing."""
        window = self._window
        session = window.document.session
        assert session is not None
        window.keep_view()
        job = window.runner.start("paper", title, task, str(session.path), out, *args, overwrite=True, key="export")
        job.succeeded.connect(lambda path: window.tell(f"Wrote {Path(path).name}"))
        job.failed.connect(window.show_error)

    def quit(self) -> None:
        self._window.close()

    # Edit

    def undo(self) -> None:
        title = self._window.document.undo()
        self._window.tell(f"Undone: {title}" if title else "Nothing to undo.")

    def redo(self) -> None:
        title = self._window.document.redo()
        self._window.tell(f"Redone: {title}" if title else "Nothing to redo.")

    def find(self) -> None:
        self._window.search.start()

    def copy_python(self, what: str) -> None:
        """Put the few lines on the clipboard that give the same numbers."""
        window = self._window
        record = window.document.record
        if record is None:
            window.tell("There is nothing to copy yet.")
            return
        if what == "map":
            method, params = window.document.projection or ("pca", {})
            text = map_snippet(record.recipe, record.row_ids, method, params)
        elif what == "clusters":
            labels = window.document.labels
            if labels is not None and labels.method == "import":
                window.tell("These clusters came from a file of labels: no lines of Python make them.")
                return
            spec = ClusterSpec.read(labels.method, labels.params) if labels is not None else None
            if spec is None:
                window.tell("There are no clusters to copy yet.")
                return
            text = clusters_snippet(record.recipe, record.row_ids, spec)
        else:
            found = window.neighbors_pane.found
            if found is None:
                window.tell("Click a point first; its neighbours can then be copied.")
                return
            text = neighbors_snippet(record.recipe, found.row_ids, found.metric, len(found.neighbors))
        QGuiApplication.clipboard().setText(text)
        window.tell("Copied as Python.")

    # View, model, map

    def zoom(self, factor: float) -> None:
        self._window.map_pane.canvas.zoom(factor)

    def fit(self) -> None:
        self._window.map_pane.canvas.fit()

    def command_palette(self) -> None:
        self._window.command_palette.toggle()

    def choose_theme(self, choice: ThemeChoice) -> None:
        self._window.settings.theme = choice
        self._window.themes.choose(choice)

    def open_model_folder(self) -> None:
        name = QFileDialog.getExistingDirectory(self._window, "Open a model folder (config.json, *.safetensors)")
        if name:
            self.open_model(name)

    def list_models(self) -> None:
        """What can be opened on this computer, and fetching from a Hub."""
        show_models(self._window)

    def open_model(self, ref: str) -> None:
        """Open a model and show the rows on the map, if they are words, else the everyday words."""
        window = self._window
        record = window.document.record
        rows = record.recipe.rows if record is not None and record.recipe.rows.words is not None else None
        job = window.conductor.open_model(ref, rows)
        if Path(ref.rpartition("::")[0] or ref).exists():
            job.succeeded.connect(lambda _: self._remember(ref))

    def show_space(self, recipe: Recipe) -> None:
        self._window.conductor.show_space(recipe)

    def set_tool(self, tool: Tool) -> None:
        self._window.map_pane.canvas.set_tool(tool)

    def draw(self) -> None:
        self._window.drawing_pane.apply()

    def color_by(self, by: ColorBy) -> None:
        self._window.map_pane.set_color_by(by)

    def recolor(self, everything: bool) -> None:
        """Choose the clusters' colours by where they lie now; those of named ones stay unless `everything`."""
        recolor(self._window.conductor, everything)

    def cancel_job(self) -> None:
        self._window.strip.cancel()

    # Labels

    def rename(self) -> None:
        self._window.this_cluster.edit()

    def resist(self) -> None:
        """Mark the selected cluster as resisting; its note is there to be filled in with Tab."""
        cluster = self._window.document.cluster
        if cluster is None:
            return
        if cluster.status == "resists":
            self._window.document.label(lambda s: s.clear(cluster.cluster_id))
        else:
            self._window.document.label(lambda s: s.resist(cluster.cluster_id))

    def unname(self) -> None:
        cluster = self._window.document.cluster
        if cluster is not None:
            self._window.document.label(lambda s: s.clear(cluster.cluster_id))

    def next_unnamed(self) -> None:
        """Go to the next unnamed cluster; with none left, say so."""
        window = self._window
        labels = window.document.labels
        if labels is None:
            return
        following = labels.next_unnamed(window.document.cluster_id)
        if following is None:
            window.tell("Every cluster has an answer.")
            return
        self.go_to_cluster(following)

    def step_cluster(self, step: int) -> None:
        """Go to the cluster before or after the selected one in the table."""
        window = self._window
        ids = [row[0] for row in window.clusters_pane.model.rows]
        if ids:
            at = ids.index(window.document.cluster_id) if window.document.cluster_id in ids else -step
            self.go_to_cluster(ids[(at + step) % len(ids)])

    def go_to_cluster(self, cluster_id: int) -> None:
        self._window.document.select_cluster(cluster_id)
        self._window.map_pane.select_rows_shown()

    def take_suggestion(self, number: int) -> None:
        """Name the selected cluster as its suggestion of that number says."""
        if not self._window.this_cluster.take(number):
            self._window.tell(f"There is no suggestion {number} for this cluster.")

    def list_members(self) -> None:
        """Go to the list of the selected cluster's members."""
        self._window.docks.show("members")
        self._window.members_pane.focus()

    def set_confidence(self, value: int) -> None:
        cluster = self._window.document.cluster
        if cluster is not None:
            self._window.document.label(lambda s: s.set_confidence(cluster.cluster_id, value))

    def merge(self) -> None:
        """Merge the clusters selected in the table; the first keeps its name and colour."""
        window = self._window
        ids = window.clusters_pane.selected_clusters
        if len(ids) < 2:
            window.tell(f"Select two or more clusters in the table (Shift or Ctrl and click), then {how('merge')}.")
            return
        window.document.label(lambda s: s.merge(ids))
        window.document.select_cluster(ids[0])

    def split(self) -> None:
        cluster = self._window.document.cluster
        if cluster is not None:
            self._window.conductor.split(cluster.cluster_id)

    def set_aside(self) -> None:
        """Take the lassoed rows out of every cluster."""
        window = self._window
        rows = window.document.lassoed
        if not len(rows):
            window.tell(f"{tipped('Lasso rows on the map first', 'lasso')}, then {how('set_aside')}.")
            return
        window.document.label(lambda s: s.set_aside(rows))
        window.document.set_lasso(np.zeros(0, np.int64))

    # Help

    def explain(self) -> None:
        self._window.map_pane.sheet.toggle("map")

    def show_shortcuts(self) -> None:
        self._window.show_shortcuts()

    def about(self) -> None:
        QMessageBox.about(
            self._window,
            "About KiruViz",
            f"<b>KiruViz {__version__}</b><br>Look inside a language model's embeddings.<br>Apache License 2.0",
        )

    def _remember(self, path: str) -> None:
        self._window.settings.add_recent(path)
        self._window.fill_recent()

    def _guarded(self, action: Callable[[], object]) -> bool:
        """Do something that may fail for the person's reasons; say why if it does."""
        try:
            action()
        except UserError as error:
            self._window.show_sentence(str(error))
            return False
        return True
