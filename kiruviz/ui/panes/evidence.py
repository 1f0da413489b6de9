"""What speaks for the name of the selected cluster: its words, what they share, its neighbours, how sure it is."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from kiruviz.analysis.evidence import Evidence
from kiruviz.analysis.traits import Trait
from kiruviz.palette import cluster_color
from kiruviz.session.labels import Cluster, LabelSet
from kiruviz.space import display_name
from kiruviz.ui.document import Document
from kiruviz.ui.keys import tip_with_key
from kiruviz.ui.theme import DARK, Theme
from kiruviz.ui.widgets.basics import button, label, number, plain_tip, row
from kiruviz.ui.widgets.chips import Chips, ChipSpec

_NEAREST, _EDGE = 8, 4
RESISTING = (
    "A cluster that resists naming is an answer too: embeddings group words by the contexts they appear in, not by "
    "category."
)


class EvidencePane(QWidget):
    """Shows what is known of one cluster.

    cluster_wanted(id) when one of the nearest clusters is chosen, resist_wanted() for marking this one.
    """

    cluster_wanted = Signal(int)
    resist_wanted = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._theme = DARK
        box = QVBoxLayout(self)
        box.setContentsMargins(14, 8, 14, 10)
        box.setSpacing(6)
        self.hint = label("Choose a cluster to see what speaks for its name.", "small", wrap=True)
        self.why = label(RESISTING, "small", wrap=True)
        box.addWidget(self.hint)
        box.addWidget(self.why)
        self.body = QWidget()
        self._grid = QGridLayout(self.body)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(1, 1)
        self.nearest = label("", wrap=True, selectable=True)
        self.edge = label("", wrap=True, selectable=True)
        self.shared = SharedTraits()
        self.resist = button("Mark as resisting", self.resist_wanted.emit, "link")
        tip_with_key(self.resist, "No name fits", "resist")
        self.next = Chips("Nearest clusters", self.resist)
        self.next.taken.connect(lambda cluster_id: self.cluster_wanted.emit(cluster_id))
        self.figures = label("", "small", wrap=True, selectable=True)
        self.figures.setToolTip(
            plain_tip(
                "Silhouette: how much nearer its members are to each other than to the next cluster, −1 to 1.\n"
                "Stability: how well it is found again, by k-means from other seeds, by the other methods on random "
                "80 % of the rows (mean best Jaccard overlap, 0 to 1)."
            )
        )
        for caption, part, tip in (
            ("nearest", self.nearest, "The members nearest the centroid, nearest first"),
            ("edge", self.edge, "The members most nearly in another cluster, most doubtful first"),
            ("shared", self.shared, "What its members share beyond chance, beside the whole map's share"),
            ("figures", self.figures, ""),
            ("next to", self.next, "The clusters whose centroids are nearest, and how far they are"),
        ):
            self._add(caption, part, tip)
        box.addWidget(self.body)
        box.addStretch(1)
        for signal in (document.selection_changed, document.labels_changed, document.evidence_changed):
            signal.connect(self.refresh)
        self.refresh()

    def _add(self, caption: str, part: QWidget, tip: str) -> None:
        line = self._grid.rowCount()
        left = label(caption, "small")
        left.setToolTip(tip)
        left.setFixedWidth(46)
        if part is self.shared:
            holder = QWidget()
            inner = QVBoxLayout(holder)
            inner.setContentsMargins(0, 0, 0, 0)
            inner.setSpacing(2)
            inner.addWidget(part)
            inner.addLayout(row(self.resist, 1))
            part = holder
        self._grid.addWidget(left, line, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(part, line, 1)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.refresh()

    def refresh(self) -> None:
        """Show what is known of the document's selected cluster."""
        document = self._document
        labels, cluster, record = document.labels, document.cluster, document.record
        found = None if cluster is None else document.evidence.get(cluster.cluster_id)
        known = found is not None and record is not None and max(found.nearest, default=0) < len(record)
        self.hint.setVisible(not known)
        self.hint.setText("Choose a cluster to see what speaks for its name." if cluster is None else "Looking…")
        self.why.setVisible(cluster is not None and cluster.status == "resists")
        self.body.setVisible(known)
        if found is None or record is None or labels is None or cluster is None or not known:
            return
        self.nearest.setText(_words(record.names, found.nearest[:_NEAREST]))
        self.edge.setText(_words(record.names, found.edge[:_EDGE]))
        self._show_shared(found, cluster, len(record))
        self._show_next(found, labels)
        stability = document.stability.get(cluster.cluster_id)
        parts = [f"silhouette {number(found.silhouette, 2)}"]
        if stability is not None:
            parts.append(f"stability {number(stability, 2)}")
        self.figures.setText(" · ".join(parts))

    def _show_shared(self, found: Evidence, cluster: Cluster, rows: int) -> None:
        self.shared.show_traits(found, rows)
        resists = cluster.status == "resists"
        self.resist.setVisible(not found.traits and cluster.status == "unnamed")
        if not found.traits and not resists and cluster.status == "unnamed":
            self.why.setVisible(True)

    def _show_next(self, found: Evidence, labels: LabelSet) -> None:
        ground = self._theme.ground
        self.next.set_chips(
            [
                ChipSpec(
                    labels.clusters[other].title,
                    number(distance, 2),
                    f"{labels.clusters[other].title}: {number(distance, 3)} from centroid to centroid (Euclidean)",
                    other,
                    short="",
                    color=cluster_color(labels.clusters[other].color, ground),
                )
                for other, distance in found.next_clusters
                if other in labels.clusters
            ]
        )


class SharedTraits(QWidget):
    """A line for each fact, and at its right the whole map's share."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(0, 1)
        self._lines: list[tuple[QLabel, QLabel]] = []
        self.nothing = label("Nothing that the whole map does not share as well.", wrap=True)
        self._grid.addWidget(self.nothing, 0, 0, 1, 2)

    @property
    def texts(self) -> list[str]:
        """The facts that are shown."""
        return [fact.text() for fact, _ in self._lines if not fact.isHidden()]

    def show_traits(self, found: Evidence, rows: int) -> None:
        """Show the facts about a cluster in a map of so many rows."""
        while len(self._lines) < len(found.traits):
            made = (label("", wrap=True, selectable=True), label("", "small"))
            line = len(self._lines) + 1
            self._grid.addWidget(made[0], line, 0)
            self._grid.addWidget(made[1], line, 1, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
            self._lines.append(made)
        for i, (fact, share) in enumerate(self._lines):
            there = i < len(found.traits)
            fact.setVisible(there)
            share.setVisible(there)
            if there:
                trait = found.traits[i]
                fact.setText(trait.text)
                share.setText(f"map {_percent(trait.share)}")
                tip = plain_tip(_lift(trait, rows))
                fact.setToolTip(tip)
                share.setToolTip(tip)
        self.nothing.setVisible(not found.traits)


def _lift(trait: Trait, rows: int) -> str:
    has = round(trait.share * rows)
    return (
        f"{trait.part:,} of {trait.whole:,} members ({_percent(trait.part / trait.whole)}), {has:,} of {rows:,} rows "
        f"of the map ({_percent(trait.share)}): {trait.lift:.1f} times the map's share. Known from: {trait.source}."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.095 or share == 0 else f"{100 * share:.1f} %"


def _words(names: tuple[str, ...], positions: tuple[int, ...]) -> str:
    return ", ".join(display_name(names[i]).lstrip("·") or display_name(names[i]) for i in positions)
