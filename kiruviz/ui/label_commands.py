"""What is done with whole sets of names: reported on, restored, carried over, imported, merged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog

from kiruviz.errors import UserError
from kiruviz.session.labels import Answer, Cluster, LabelSet
from kiruviz.tasks import carrying, label_join, label_merge
from kiruviz.tasks.carrying import Fate, Whereabouts
from kiruviz.tasks.label_join import ImportPlan
from kiruviz.tasks.label_merge import Choice, Comparison
from kiruviz.ui.conductor import NamesMoved
from kiruviz.ui.former_sets import FormerSets
from kiruviz.ui.merge_dialog import MergeDialog
from kiruviz.ui.names_report import NamesReport

if TYPE_CHECKING:
    from kiruviz.ui.window import MainWindow

_IMPORT_FILTER = "Labels (*.csv *.json)"
_MERGE_FILTER = "Labels or session (*.csv *.json *.kiru)"


class LabelCommands:
    """The verbs for sets of names. Each may be called at any time; what is not possible now says why."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._offered: tuple[int, str] | None = None
        window.document.labels_changed.connect(self._withdraw)

    # What became of the names

    def report(self) -> None:
        """Open the list of what became of the names."""
        dialog = NamesReport(self._window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def offer_report(self, moved: NamesMoved) -> None:
        """After a clustering: names that found no cluster are worth a message, the rest a link."""
        window = self._window
        labels = window.document.labels
        if labels is not None:
            window.clusters_pane.offer_report(labels.set_id, moved)
        if moved.lost and labels is not None:
            self._offered = (labels.set_id, moved.sentence())
            window.map_pane.banner.say(
                moved.sentence(),
                choices=(("What became of the names", self.report), ("Undo", window.commands.undo)),
            )

    def _withdraw(self) -> None:
        """Undo and other clusters make the offer old news."""
        labels, banner = self._window.document.labels, self._window.map_pane.banner
        if self._offered is None or (labels is not None and labels.set_id == self._offered[0]):
            return
        if banner.text == self._offered[1]:
            banner.hide()
        self._offered = None

    def give_name(self, fate: Fate, cluster_id: int) -> None:
        """Give a former answer to a present cluster; a name it had goes into its note."""
        labels = self._window.document.labels
        if labels is None or cluster_id not in labels.clusters:
            return
        cluster = labels.clusters[cluster_id]
        answer = taking_over(fate.answer, cluster)
        title = f"give “{fate.answer.title}” to {cluster_id}"
        self._window.document.label(lambda s: s.adopt({cluster_id: answer}, title=title))
        self._window.tell(f"Cluster {cluster_id} is now “{fate.answer.title}”. Undo takes it back.")

    def bring_back(self, fate: Fate, space_id: int) -> None:
        """Make a cluster of a former one's rows, with its answer."""
        document = self._window.document
        before = document.labels
        if before is None or document.space_id != space_id:
            self._window.tell("Other rows are on the map now; open the list again.")
            return
        title = f"bring “{fate.answer.title}” back"
        document.label(lambda s: s.adopt({}, [(fate.rows, fate.answer)], title=title))
        after = document.labels
        if after is not None:
            self._window.tell(_brought(fate.answer, before, after))

    # Former sets

    def former_sets(self) -> None:
        """Open the list of all sets of names."""
        dialog = FormerSets(self._window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def restore(self, set_id: int) -> None:
        """Make a former set the present one; the map follows to its rows."""
        window = self._window
        if window.document.session is None:
            return
        try:
            window.document.restore_set(set_id)
        except UserError as error:
            window.show_sentence(str(error))
            return
        window.conductor.draw_if_bare()
        window.tell("The former set is back. Undo returns to the one before.")

    def carry_from(self, set_id: int) -> None:
        """Give the names of a former set to those present clusters that have no answer."""
        session = self._window.document.session
        if session is None:
            return
        job = self._window.runner.start(
            "model", "Comparing the clusters", carrying.whereabouts, str(session.path), set_id, key="carry from"
        )
        job.succeeded.connect(self._carried)
        job.failed.connect(self._window.show_error)

    def _carried(self, found: Whereabouts | None) -> None:
        labels = self._window.document.labels
        if found is None or labels is None or labels.set_id != found.set_id:
            self._window.tell("The clusters changed meanwhile; carry the names over again.")
            return
        new = [fate for fate in found.fates if fate.new is not None and fate.new in labels.clusters]
        free = {f.new: f.answer for f in new if f.new is not None and labels.clusters[f.new].status == "unnamed"}
        taken = sum(not _same(fate.answer, labels.clusters[fate.new]) for fate in new if fate.new not in free)  # type: ignore[index]
        if free:
            title = "carry over 1 name" if len(free) == 1 else f"carry over {len(free)} names"
            self._window.document.label(lambda s: s.adopt(free, title=title))
        self._window.tell(_carried_sentence(free, taken, len(found.fates) - len(new)))

    # Labels of files and of other people

    def import_labels(self) -> None:
        """Ask for a file of labels and bring it to the rows on the map."""
        if self._window.document.record is None:
            self._window.tell("There are no rows on the map yet to bring labels to.")
            return
        name, _ = QFileDialog.getOpenFileName(self._window, "Import labels", "", _IMPORT_FILTER)
        if name:
            self.import_from(Path(name))

    def import_from(self, path: Path) -> None:
        """Read a file of labels in the background and make its clusters the present ones."""
        session = self._window.document.session
        if session is None:
            return
        job = self._window.runner.start(
            "model", "Reading the labels", label_join.plan_import, str(session.path), str(path), key="labels"
        )
        job.succeeded.connect(self._imported)
        job.failed.connect(self._window.show_error)

    def _imported(self, plan: ImportPlan) -> None:
        window = self._window
        if window.document.space_id != plan.space_id:
            window.tell("Other rows are on the map now; import the labels again.")
            return
        window.document.import_labels(plan)
        if plan.not_on_map or plan.not_in_file or plan.without:
            window.map_pane.banner.say(plan.sentence(), choices=(("Undo", window.commands.undo),))
        window.tell(f"{plan.sentence()} Undo brings the former clusters back.")

    def merge_labels(self) -> None:
        """Ask for another person's labels and compare them with those on the map."""
        if self._window.document.labels is None:
            self._window.tell("There are no clusters yet to compare with.")
            return
        name, _ = QFileDialog.getOpenFileName(self._window, "Merge with another person's labels", "", _MERGE_FILTER)
        if name:
            self.merge_with(Path(name))

    def merge_with(self, path: Path) -> None:
        """Compare with a file of labels or a session in the background, then show where they differ."""
        session = self._window.document.session
        if session is None:
            return
        job = self._window.runner.start(
            "model", "Comparing the labels", label_merge.compare_with, str(session.path), str(path), key="labels"
        )
        job.succeeded.connect(self._compared)
        job.failed.connect(self._window.show_error)

    def _compared(self, found: Comparison) -> None:
        labels = self._window.document.labels
        if labels is None or labels.set_id != found.set_id:
            self._window.tell("The clusters changed meanwhile; compare the labels again.")
            return
        dialog = MergeDialog(self._window, found)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def take_choices(self, found: Comparison, choices: Mapping[int, Choice]) -> None:
        """Do what was chosen between two people's labels, as one step."""
        merged = label_merge.resolve(found.conflicts, choices)
        document = self._window.document
        before = document.labels
        title = f"merge labels of {found.source}"
        document.label(lambda s: s.adopt(merged.answers, merged.revived, title=title))
        changed = len(merged.answers) + len(merged.revived)
        if document.labels is before or not changed:
            self._window.tell("Your labels stay as they were.")
        else:
            what = "1 cluster" if changed == 1 else f"{changed} clusters"
            self._window.tell(f"Took over what was chosen for {what}. Undo takes it back.")


def taking_over(answer: Answer, cluster: Cluster) -> Answer:
    """`answer` for a cluster that may have one: its name is kept in the note, as its note is."""
    lines = [answer.note]
    if cluster.note and cluster.note != answer.note:
        lines.append(cluster.note)
    if cluster.status != "unnamed" and not _same(answer, cluster):
        lines.append(f"before: {cluster.title}")
    return Answer(answer.status, answer.name, "\n".join(line for line in lines if line), answer.confidence)


def _same(answer: Answer, cluster: Cluster) -> bool:
    return (answer.status, answer.name.casefold()) == (cluster.status, cluster.name.casefold())


def _brought(answer: Answer, before: LabelSet, after: LabelSet) -> str:
    gone = [c.title for i, c in before.clusters.items() if i not in after.clusters and c.status != "unnamed"]
    said = f"“{answer.title}” is a cluster again."
    if gone:
        said += f" All rows of {', '.join(gone)} went into it."
    return f"{said} Undo takes it back."


def _carried_sentence(free: dict[int, Answer], taken: int, without: int) -> str:
    names = ", ".join(answer.title for answer in free.values())
    parts = [f"Carried over: {names}." if free else "No cluster without an answer matches a name of that set."]
    if taken:
        parts.append(f"{taken} {'cluster has' if taken == 1 else 'clusters have'} another answer and kept it.")
    if without:
        parts.append(f"{without} found no cluster.")
    return " ".join(parts)
