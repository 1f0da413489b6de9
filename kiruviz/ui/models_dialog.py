"""Models on this computer, and fetching one from a Hub."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QDialog, QLineEdit, QProgressBar, QPushButton, QVBoxLayout

from kiruviz.jobs.lane import Job
from kiruviz.models.hub import Fetched, megabytes
from kiruviz.models.local_entry import Found
from kiruviz.tasks import fetching
from kiruviz.tasks.fetching import FetchPlan
from kiruviz.ui.widgets.basics import Fold, button, hairline, label, row
from kiruviz.ui.widgets.tables import RowsModel, Table

if TYPE_CHECKING:
    from kiruviz.ui.window import MainWindow

_SIZE = 2


class _Models(RowsModel):
    """(title, kind, bytes, place, ref) of each model; the ref is not shown."""

    def shown(self, value: Any, column: int) -> str:
        return megabytes(value) if column == _SIZE else str(value)


class ModelsDialog(QDialog):
    """The list above, the Hub below. It may be closed while a fetch goes on.

    Attributes
    ----------
    table : the models on this computer
    name : what to fetch; `look` and `download` say what each takes and do it
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._fetching: Job | None = None
        self._plans: dict[str, FetchPlan] = {}
        self.setWindowTitle("Models on this computer")
        self.resize(720, 560)
        box = QVBoxLayout(self)
        box.setContentsMargins(20, 18, 20, 18)
        box.setSpacing(9)
        box.addWidget(label("Models on this computer", "title"))
        self._make_list(box)
        box.addWidget(hairline())
        self._make_hub(box)
        self.close_button = button("Close", self.close)
        self.open_button = button("Open", self.open_selected, "primary")
        box.addLayout(row(1, self.close_button, self.open_button))
        # Enter belongs to what has the focus: in the list it opens, in the name's field it asks for the size.
        for one in self.findChildren(QPushButton):
            one.setAutoDefault(False)
        self._choose()

    def _make_list(self, box: QVBoxLayout) -> None:
        self.models = _Models(("Model", "Kind", "Size", "Place"), self)
        self.models.right_aligned = frozenset((_SIZE,))
        self.table = Table(self.models, "Models on this computer")
        self.table.stretch(0)
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.table.activated_row.connect(self._open_row)
        self.table.selectionModel().selectionChanged.connect(self._choose)
        self.models.modelReset.connect(self._choose)
        box.addWidget(self.table, 1)
        self.note = label("Looking for models…", "muted", wrap=True)
        box.addWidget(self.note)
        self.left_out = label("", "muted", wrap=True, selectable=True)
        self.left_out_fold = Fold("Not listed, and why", self.left_out)
        self.left_out_fold.hide()
        box.addWidget(self.left_out_fold)

    def _make_hub(self, box: QVBoxLayout) -> None:
        self.name = QLineEdit()
        self.name.setPlaceholderText("owner/name of a model on a Hub")
        self.name.setAccessibleName("Model on a Hub")
        self.name.textChanged.connect(self._forget_plans)
        self.name.returnPressed.connect(self.ask_for_size)
        self.ask = button("Ask for the size", self.ask_for_size, tip="Nothing else is fetched yet")
        line = row(self.name, self.ask)
        line.setStretch(0, 1)
        box.addLayout(line)
        self.said = label("Nothing is fetched until you ask for it.", "muted", wrap=True, selectable=True)
        box.addWidget(self.said)
        self.look = button(
            "Look", lambda: self.fetch("look"), tip="Only the table, the tokenizer and the configuration"
        )
        self.download = button("Download", lambda: self.fetch("download"), tip="The whole model")
        self.cancel = button("Cancel", self.cancel_fetch, tip="What came so far stays, the next fetch goes on there")
        self.bar = QProgressBar()
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of the fetch")
        offers = row(self.look, self.download, self.bar, self.cancel)
        offers.setStretch(2, 1)
        box.addLayout(offers)
        self._show_offers()

    # The list

    def refresh(self) -> None:
        """Look through this computer again."""
        job = self._window.runner.start(
            "fetch", "Looking for models", fetching.local_models, key="local models", quiet=True
        )
        job.succeeded.connect(self._show_found)
        job.failed.connect(lambda error: self.note.setText(error.sentence))

    def _show_found(self, found: Found) -> None:
        self.models.set_rows([(one.title, one.kind, one.size, one.place, one.ref) for one in found.models])
        if found.models:
            self.table.selectRow(0)
        count = len(found.models)
        self.note.setText(
            f"{count} {'model' if count == 1 else 'models'}, of the starters, the Hugging Face cache, LM Studio and "
            "Ollama. Files and folders elsewhere can be dropped on the window."
        )
        reasons = [f"{one.what} ({one.place}): {one.reason}" for one in found.skipped]
        self.left_out.setText("\n".join(reasons))
        self.left_out_fold.setVisible(bool(reasons))

    def _choose(self) -> None:
        self.open_button.setEnabled(self.table.currentIndex().isValid())

    def open_selected(self) -> None:
        """Open the model that is selected."""
        if self.table.currentIndex().isValid():
            self._open_row(self.table.currentIndex().row())

    def _open_row(self, row_number: int) -> None:
        self._window.commands.open_model(str(self.models.rows[row_number][4]))
        self.close()

    # The Hub

    def _forget_plans(self) -> None:
        self._plans = {}
        self._show_offers()

    def _show_offers(self) -> None:
        """Buttons for what can be done now: two offers with their sizes, or the running fetch."""
        busy = self._fetching is not None
        for name, widget in (("look", self.look), ("download", self.download)):
            plan = self._plans.get(name)
            widget.setVisible(not busy and plan is not None)
            if plan is not None:
                widget.setText(f"{name.capitalize()}: {megabytes(plan.missing)}")
        for part in (self.bar, self.cancel):
            part.setVisible(busy)
        self.name.setEnabled(not busy)
        self.ask.setEnabled(not busy and bool(self.name.text().strip()))

    def ask_for_size(self) -> None:
        """Ask the Hub what looking and downloading would take."""
        ref = self.name.text().strip()
        if not ref or self._fetching is not None:
            return
        self._plans = {}
        job = self._window.runner.start("fetch", f"Asking about {ref}", fetching.both_plans, ref, key="size of a model")
        self.said.setText(f"Asking about {ref}…")
        job.succeeded.connect(self._show_plans)
        job.failed.connect(lambda error: self.said.setText(error.sentence))
        self._watch(job)

    def _show_plans(self, plans: tuple[FetchPlan | str, FetchPlan]) -> None:
        look, download = plans
        self._plans = {"download": download}
        if isinstance(look, str):
            self.said.setText(f"{download.sentence()}. {look}")
            return
        self._plans["look"] = look
        self.said.setText(f"{look.sentence()}: the table, the tokenizer and the configuration.")

    def fetch(self, how: str) -> None:
        """Fetch what was offered, and open it."""
        plan = self._plans.get(how)
        if plan is None or self._fetching is not None:
            return
        job = self._window.runner.start("fetch", f"Fetching {plan.name}", fetching.fetch, plan, key="fetch a model")
        job.succeeded.connect(lambda fetched: self._fetched(plan, fetched))
        job.failed.connect(lambda error: self._not_fetched(error.sentence))
        job.cancelled.connect(lambda: self.said.setText(f"Stopped; fetching {plan.name} again goes on from there."))
        self._watch(job)

    def _watch(self, job: Job) -> None:
        self._fetching = job
        self.bar.setRange(0, 0)
        job.progressed.connect(self._progress)
        job.ended.connect(self._over)
        self._show_offers()

    def _progress(self, fraction: float | None, message: str) -> None:
        self.said.setText(message)
        self.bar.setRange(0, 0 if fraction is None else 1000)
        if fraction is not None:
            self.bar.setValue(round(1000 * fraction))

    def _over(self) -> None:
        self._fetching = None
        self._show_offers()

    def cancel_fetch(self) -> None:
        """Stop asking or fetching."""
        if self._fetching is not None:
            self._fetching.cancel()

    def _fetched(self, plan: FetchPlan, fetched: Fetched) -> None:
        self._plans = {}
        self.said.setText(f"{plan.name} is here; {megabytes(fetched.received)} came over the network.")
        if self.isVisible():
            self._window.commands.open_model(plan.name)
            self.close()
        else:
            self._window.tell(f"{plan.name} is here: Model, Models on this computer.")

    def _not_fetched(self, sentence: str) -> None:
        self.said.setText(sentence)
        if not self.isVisible():
            self._window.tell(sentence)


def show_models(window: MainWindow) -> None:
    """Show the list; there is one a window, so that a fetch that goes on is found again."""
    dialog = window.findChild(ModelsDialog) or ModelsDialog(window)
    dialog.refresh()
    dialog.open()
    dialog.raise_()
    dialog.activateWindow()
    dialog.table.setFocus()
