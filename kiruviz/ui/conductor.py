"""Starts the jobs and gives their results to the document: opening, projecting, clustering, asking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, Signal

from kiruviz.analysis.effect import Effect
from kiruviz.analysis.grouping import ClusterSpec
from kiruviz.jobs.helper import JobError
from kiruviz.jobs.lane import Job
from kiruviz.jobs.runner import JobRunner, LaneName
from kiruviz.models.rows import read_words
from kiruviz.paths import resource
from kiruviz.session.records import PackedSpace, SpaceRecord
from kiruviz.space import Kind, Metric, Recipe, Rows, Transform
from kiruviz.tasks import maps, remembered, spaces
from kiruviz.tasks import members as lists
from kiruviz.tasks.carrying import Fate, FormerLabels
from kiruviz.tasks.maps import FEW_ROWS, Method, ProjectionOutcome
from kiruviz.ui.document import Document

_DRAWING = ("open", "space", "recall", "projection", "clusters", "evidence", "stability", "effect", "split")
_MOST_TOLD = 8
EVERYDAY_TITLE = "Everyday words (200)"
# Of a file of vectors that knows fewer of the everyday words all rows are shown.
_ENOUGH_WORDS = 20


@dataclass(frozen=True)
class MapChoice:
    """How the next map is drawn; `params` are those of the method that differ from its defaults."""

    method: Method = "umap"
    params: dict[str, Any] = field(default_factory=dict)
    clusters: ClusterSpec = field(default_factory=ClusterSpec)


@dataclass(frozen=True)
class NamesMoved:
    """What a clustering did to the answers: titles of those carried over, of those of earlier sets that found a
    cluster again, of those that no cluster continues, and of those whose rows are not on the map."""

    kept: tuple[str, ...]
    back: tuple[str, ...]
    lost: tuple[str, ...]
    elsewhere: tuple[str, ...]

    def sentence(self) -> str:
        said = (
            ("Names carried over", self.kept),
            ("Back again", self.back),
            ("No cluster for", self.lost),
            ("Not among these rows", self.elsewhere),
        )
        parts = [f"{what}: {_listed(titles)}." for what, titles in said if titles]
        return " ".join([*parts, "Undo brings the former clusters back."])


def _listed(titles: tuple[str, ...]) -> str:
    """The first titles, and how many more there are."""
    more = len(titles) - _MOST_TOLD
    return ", ".join(titles[:_MOST_TOLD]) + (f" and {more} more" if more > 0 else "")


def everyday_rows() -> Rows:
    """The shipped word list."""
    words = read_words(resource("words", "everyday-200.txt"))
    return Rows(words=tuple(words), title=EVERYDAY_TITLE)


def _lane(spec: ClusterSpec) -> LaneName:
    """EVoC, which compiles for minutes once, has nothing waiting behind it in the layout lane."""
    return "layout" if spec.method == "evoc" else "analysis"


class Conductor(QObject):
    """All that runs in the background.

    model_changed(ModelInfo or None), neighbors_found(NeighborList), tokens_found(text, tokens),
    hover_found(row, NeighborList), counted(RowCount or JobError), failed(JobError), told(str) for the status
    line, layout_ready() once UMAP is compiled, names_moved(NamesMoved) after a clustering that touched answers,
    tables_found(ref, choices) where a file holds several tables of which the person has to choose.
    """

    model_changed = Signal(object)
    neighbors_found = Signal(object)
    tokens_found = Signal(str, object)
    hover_found = Signal(int, object)
    counted = Signal(object)
    failed = Signal(object)
    told = Signal(str)
    layout_ready = Signal()
    names_moved = Signal(object)
    tables_found = Signal(str, object)

    def __init__(self, document: Document, runner: JobRunner) -> None:
        super().__init__()
        self.document = document
        self.runner = runner
        self.info: spaces.ModelInfo | None = None
        self.choice = MapChoice()
        self.considered: ClusterSpec | None = None
        self._effect_of: ClusterSpec | None = None
        self._layout_warm = False
        runner.lane("layout").helper_lost.connect(self._layout_lost)
        document.space_changed.connect(self._follow_model)

    def warm_up(self) -> None:
        """Start what the first map will need while the model is still opening."""
        self.runner.start("analysis", "Starting the clusterer", maps.warm_analysis, quiet=True)

    # Opening

    def open_model(self, ref: str, rows: Rows | None = None) -> Job:
        """Open a model and show its map of `rows` (the everyday words if none are given)."""
        words = everyday_rows()
        job = self.runner.start("model", f"Opening {ref}", spaces.open_model, ref, words.words, key="open")
        wanted = Recipe(model=ref, rows=rows if rows is not None else words)
        job.succeeded.connect(lambda info: self._opened(info, wanted))
        job.failed.connect(lambda error: self._not_opened(ref, error))
        return job

    def _not_opened(self, ref: str, error: JobError) -> None:
        if error.choices:
            self.tables_found.emit(ref, error.choices)
        else:
            self.failed.emit(error)

    def _opened(self, info: spaces.ModelInfo, wanted: Recipe) -> None:
        self.info = info
        self.model_changed.emit(info)
        if not info.kinds:
            self.told.emit(f"{info.card.name} is a configuration without weights: its card is shown, it has no rows.")
            return
        few = info.known_words is not None and info.known_words < _ENOUGH_WORDS
        if not info.has_tokenizer or few:  # words cannot be looked up, or are others; its rows are shown by number
            wanted = replace(wanted, rows=Rows())
        self.show_space(wanted).failed.connect(lambda _: self._follow_model())

    def attach_tokenizer(self, path: Path) -> None:
        """Use a tokenizer the person brought for the open model, which came without one."""
        if self.info is None:
            return
        ref = self.info.card.source
        job = self.runner.start("model", "Reading the tokenizer", spaces.attach_tokenizer, ref, str(path), key="open")
        job.succeeded.connect(lambda info: self._opened(info, Recipe(model=ref, rows=everyday_rows())))
        job.failed.connect(self.failed)

    def _follow_model(self) -> None:
        """Undo may lead back to another model's rows, and a model's map may fail: go back to the rows' model."""
        record = self.document.record
        if record is not None and self.info is not None and record.recipe.identity != self.info.card.identity:
            self.use_model_of(record)

    def use_model_of(self, record: SpaceRecord) -> None:
        """After a session was opened: open its model quietly, so that neighbours and new maps work."""
        recipe = record.recipe
        if self.info is not None and self.info.card.identity != recipe.identity:
            self.info = None  # neighbours of another model's rows would be wrong
            self.model_changed.emit(None)
        job = self.runner.start("model", f"Opening {recipe.model}", spaces.open_model, recipe.model, key="open")
        job.succeeded.connect(lambda info: self._model_of_session(info, recipe))
        job.failed.connect(lambda error: self._model_is_gone(error))

    def _model_of_session(self, info: spaces.ModelInfo, recipe: Recipe) -> None:
        if recipe.identity and recipe.identity != info.card.identity:
            self._model_is_gone(JobError(f"{recipe.model} is not the model this session was made from."))
            return
        self.info = info
        self.model_changed.emit(info)
        self.describe()

    def _model_is_gone(self, error: JobError) -> None:
        self.info = None
        self.model_changed.emit(None)
        self.told.emit(f"{error.sentence} Labels, map and export work without it.")

    def cancel_drawing(self) -> None:
        """Stop whatever would change the map."""
        for key in (
            "open",
            "space",
            "recall",
            "projection",
            "clusters",
            "evidence",
            "stability",
            "effect",
            "split",
            "members",
            "former",
        ):
            self.runner.cancel(key)

    def show_space(self, recipe: Recipe) -> Job:
        """Make the rows of `recipe` and draw their map."""
        for key in ("recall", "projection", "clusters"):
            self.runner.cancel(key)
        job = self.runner.start("model", "Looking up the rows", spaces.pack_space, recipe, key="space")
        job.succeeded.connect(self._space_made)
        job.failed.connect(self.failed)
        return job

    def _space_made(self, packed: PackedSpace) -> None:
        record = packed.record
        former = self._former()
        # Defaults depend on the number of rows, so parameters set for other rows are let go.
        document = self.document
        if document.record is None or (len(document.record) > FEW_ROWS) != (len(record) > FEW_ROWS):
            self.choice = replace(self.choice, params={})
        document.set_space(packed)
        self._recall_map(record.recipe, former)

    def _recall_map(self, recipe: Recipe, former: FormerLabels | None) -> None:
        """What was computed before is drawn at once; the rest is computed."""
        choice = self.choice
        params = choice.params if choice.method == "umap" else {}
        rows = len(self.document.record) if self.document.record is not None else 0
        job = self.runner.start(
            "model", "Recalling the map", remembered.known_map, recipe, rows, params, choice.clusters,
            key="recall", quiet=True,
        )  # fmt: skip
        job.succeeded.connect(lambda known: self._recalled(recipe, former, known) if self._shown(recipe) else None)
        job.failed.connect(self.failed)

    def _recalled(self, recipe: Recipe, former: FormerLabels | None, known: remembered.KnownMap) -> None:
        if known.pca is None:
            self._first_picture(recipe)
        else:
            self.document.set_projection(known.pca)
        if former is not None and self.document.restore_answers():
            self.told.emit("The clusters you named on these rows are back. Undo returns to the ones before.")
        elif known.clusters is None or former is not None:
            self._cluster(recipe, former)
        else:
            self._clustered(known.clusters)
        if known.pca is not None and known.umap is not None and self.choice.method == "umap":
            self.document.set_projection(known.umap)
            self.warm_layout()
        elif known.pca is not None:
            self._unfold_unasked(recipe, known.pca)

    # Drawing

    def draw(self, choice: MapChoice) -> None:
        """Project and cluster the rows on the map anew, as far as `choice` differs from what is shown."""
        record = self.document.record
        if record is None or not self._model_at_hand():
            return
        before, self.choice = self.choice, choice
        if self.document.coords is None:
            self._first_picture(record.recipe)
        elif (before.method, before.params) != (choice.method, choice.params) or not self._shows(choice):
            self._project(record.recipe)
        if not self._grouped_by(choice.clusters):
            self._cluster(record.recipe, self._former())

    def draw_if_bare(self) -> None:
        """Rows that came back may never have had a map."""
        record = self.document.record
        if record is not None and self.document.coords is None and self.info is not None:
            self._first_picture(record.recipe)

    def _grouped_by(self, spec: ClusterSpec) -> bool:
        """Whether the clusters on screen, which undo may have brought back, are those of `spec`."""
        labels = self.document.labels
        if labels is None:
            return False
        spec = spec.fitted(len(labels.assignment))
        return (labels.method, labels.params) == (spec.method, spec.stored())

    def _shows(self, choice: MapChoice) -> bool:
        shown = self.document.projection
        if shown is None or shown[0] != choice.method:
            return False
        return all(shown[1].get(name) == value for name, value in choice.params.items())

    def _first_picture(self, recipe: Recipe) -> None:
        """PCA at once; UMAP then unfolds from it, for few rows unasked."""
        params: dict[str, Any] = self.choice.params if self.choice.method == "pca" else {}
        job = self.runner.start("analysis", "PCA", remembered.project, recipe, "pca", params, key="projection")
        job.succeeded.connect(lambda outcome: self._pca_drawn(recipe, outcome) if self._shown(recipe) else None)
        job.failed.connect(self.failed)

    def _pca_drawn(self, recipe: Recipe, outcome: ProjectionOutcome) -> None:
        self.document.set_projection(outcome)
        self._unfold_unasked(recipe, outcome)

    def _unfold_unasked(self, recipe: Recipe, start: ProjectionOutcome) -> None:
        """Few rows unfold at once; for many the person asks."""
        if self.choice.method == "umap" and len(start.coords) <= FEW_ROWS:
            self._unfold(recipe, start)

    def _project(self, recipe: Recipe) -> None:
        if self.choice.method == "pca" or self.document.coords is None:
            self._first_picture(recipe)
            return
        job = self.runner.start("analysis", "PCA", remembered.project, recipe, "pca", {}, key="projection")
        job.succeeded.connect(lambda outcome: self._unfold(recipe, outcome) if self._shown(recipe) else None)
        job.failed.connect(self.failed)

    def _unfold(self, recipe: Recipe, start: ProjectionOutcome) -> None:
        if not self._layout_warm:
            self.warm_layout()
        params = self.choice.params
        job = self.runner.start(
            "layout", "UMAP", remembered.project, recipe, "umap", params, start.coords, key="projection"
        )
        document = self.document
        job.partial.connect(lambda coords: document.set_partial_coords(coords) if self._shown(recipe) else None)
        job.succeeded.connect(lambda outcome: document.set_projection(outcome) if self._shown(recipe) else None)
        job.cancelled.connect(lambda: self._settle(recipe))
        job.failed.connect(self.failed)

    def _settle(self, recipe: Recipe) -> None:
        """A cancelled layout leaves the places of the last finished one."""
        document = self.document
        if document.record is None or document.record.recipe != recipe or document.session is None:
            return
        assert document.space_id is not None
        found = document.session.projection(document.space_id)
        if found is not None:
            document.coords = found.coords
            document.projection = (found.method, found.params)
            document.coords_changed.emit(True)

    def warm_layout(self) -> None:
        """Compile UMAP's kernels in its helper, so that the next layout starts at once."""
        if self._layout_warm:
            return
        self._layout_warm = True
        job = self.runner.start("layout", "Warming up UMAP", maps.warm_layout, key="warm")
        job.succeeded.connect(lambda _: self.layout_ready.emit())
        job.cancelled.connect(self._layout_lost)

    def _layout_lost(self) -> None:
        self._layout_warm = False

    def _former(self) -> FormerLabels | None:
        """Where names are carried over from: the session, once it has clusters of whatever rows."""
        session = self.document.session
        return None if session is None or session.labels is None else FormerLabels(str(session.path))

    def _cluster(self, recipe: Recipe, former: FormerLabels | None) -> None:
        spec = self.choice.clusters
        if self.document.record is not None:
            spec = spec.fitted(len(self.document.record))
        self.runner.cancel("effect")  # it would stand in the way, and is computed again
        coords = self.document.coords
        job = self.runner.start(
            _lane(spec), f"{spec.title} clusters", remembered.cluster, recipe, spec, former, coords, key="clusters"
        )
        job.succeeded.connect(lambda outcome: self._clustered(outcome) if self._shown(recipe) else None)
        job.failed.connect(self.failed)

    def _shown(self, recipe: Recipe) -> bool:
        """Whether the rows of `recipe` are still on the map: undo may have gone back to others meanwhile."""
        record = self.document.record
        return record is not None and record.recipe == recipe

    def _clustered(self, outcome: maps.ClusterOutcome) -> None:
        session = self.document.session
        former = session.labels if session is not None else None
        self.document.set_clusters(outcome)
        if former is not None:
            self._tell_carried(outcome.carriage.fates, former.set_id)

    def _tell_carried(self, fates: Sequence[Fate], former: int) -> None:
        """Which names the new clusters took over, and which found no cluster: nothing is dropped silently. What
        had none before either was told then."""
        moved = NamesMoved(
            kept=tuple(f.answer.title for f in fates if f.new is not None and f.set_id == former),
            back=tuple(f.answer.title for f in fates if f.new is not None and f.set_id != former),
            lost=tuple(f.answer.title for f in fates if f.new is None and f.set_id == former and len(f.rows)),
            elsewhere=tuple(f.answer.title for f in fates if f.new is None and f.set_id == former and not len(f.rows)),
        )
        if moved != NamesMoved((), (), (), ()):
            self.told.emit(moved.sentence())
            self.names_moved.emit(moved)

    def split(self, cluster_id: int) -> None:
        """Split one cluster by re-clustering its members alone."""
        document = self.document
        if document.labels is None or document.record is None or not self._model_at_hand():
            return
        set_id, members = document.labels.set_id, document.labels.members(cluster_id)
        if len(members) < 2:
            self.told.emit("A cluster of one row cannot be split.")
            return
        recipe, spec = document.record.recipe, document.cluster_spec or ClusterSpec()
        seed = getattr(spec.params, "seed", 0)
        self.runner.cancel("effect")
        job = self.runner.start(
            "analysis", "Splitting the cluster", maps.split_members, recipe, members, seed, spec.metric, key="split"
        )
        job.succeeded.connect(lambda parts: self._split(set_id, cluster_id, members, np.asarray(parts, np.int32)))
        job.failed.connect(self.failed)

    def _split(
        self, set_id: int, cluster_id: int, members: npt.NDArray[np.int64], parts: npt.NDArray[np.int32]
    ) -> None:
        """Split the cluster if it is still what it was when the parts were asked for."""
        labels = self.document.labels
        if labels is not None and labels.set_id == set_id and np.array_equal(labels.members(cluster_id), members):
            new = self.document.new_colors(members, max(int(parts.max()), 0))
            self.document.label(lambda session: session.split(cluster_id, parts, new))

    def describe(self) -> None:
        """Evidence for the clusters; for few rows also stability and the effect of the clusterer's parameter."""
        document = self.document
        if document.labels is None or document.record is None:
            return
        self._look_for_former_names()
        if self.info is None:
            return
        recipe, assignment, spec = document.record.recipe, document.labels.assignment, document.cluster_spec
        metric = spec.metric if spec is not None else "euclidean"
        start = self.runner.start
        job = start(
            "analysis", "Distances", lists.member_distances, recipe, assignment, metric, key="members", quiet=True
        )
        job.succeeded.connect(document.set_distances)
        job = start(
            "analysis", "Cluster evidence", maps.describe_clusters, recipe, assignment, metric,
            key="evidence", quiet=True,
        )  # fmt: skip
        job.succeeded.connect(document.set_evidence)
        if spec is not None and len(document.record) <= FEW_ROWS:
            job = start(
                "analysis", "Stability", maps.cluster_stability, recipe, assignment, spec, key="stability", quiet=True
            )
            job.succeeded.connect(document.set_stability)
        if self.considered is not None:
            self.consider(self.considered)

    def consider(self, spec: ClusterSpec) -> None:
        """The settings a person looks at: what they would give is found unasked where that is quick."""
        self.considered = spec
        document = self.document
        if document.record is None or self.info is None:
            return
        used = document.cluster_spec
        # EVoC compiles for minutes once; when its clusters are shown, its layers are there already.
        known = used is not None and used.method == "evoc" and used.without_value() == spec.without_value()
        if known or (len(document.record) <= FEW_ROWS and spec.method != "evoc"):
            self.ask_effect(spec, quiet=True)

    def ask_effect(self, spec: ClusterSpec, quiet: bool = False) -> None:
        """What the values of the clusterer's main parameter would give."""
        document, wanted = self.document, spec.without_value()
        if document.record is None or not self._model_at_hand():
            return
        known = document.effects.get(wanted)
        if (known is not None and known.complete) or (wanted == self._effect_of and self.finds_effect):
            return
        recipe, self._effect_of = document.record.recipe, wanted
        lane: LaneName = "layout" if len(document.record) > FEW_ROWS else _lane(spec)
        job = self.runner.start(
            lane, f"Effect of {spec.title}", remembered.cluster_effect, recipe, spec, key="effect", quiet=quiet
        )
        job.partial.connect(lambda found: self._effect_found(recipe, found))
        job.succeeded.connect(lambda found: self._effect_found(recipe, found))
        job.failed.connect(lambda error: None if quiet else self.failed.emit(error))

    @property
    def finds_effect(self) -> bool:
        """Whether an effect is being computed."""
        job = self.runner.job("effect")
        return job is not None and not job.is_over

    def _effect_found(self, recipe: Recipe, found: Effect) -> None:
        if self._shown(recipe):
            self.document.set_effect(found)

    def _look_for_former_names(self) -> None:
        """Names of former sets to suggest; they are in the session, so the model need not be there."""
        session = self.document.session
        if session is not None and session.set_count > 1:
            job = self.runner.start(
                "analysis", "Former names", lists.former_names, str(session.path), key="former", quiet=True
            )
            job.succeeded.connect(self.document.set_former_names)

    def write_members(self, columns: dict[str, list[Any]], path: Path) -> Job:
        """Write a list of members as CSV or Parquet, in place of what is there (the dialog has asked)."""
        job = self.runner.start(
            "paper", "Writing the list", lists.write_members, columns, str(path), overwrite=True, key="export"
        )
        job.failed.connect(self.failed)
        return job

    # Asking

    def ask_neighbors(self, row_ids: tuple[int, ...], query: str, metric: Metric, k: int) -> None:
        """The nearest rows of the whole table."""
        if not self._model_at_hand():
            return
        job = self.runner.start(
            "model",
            "Neighbours",
            spaces.neighbors,
            *self._table(),
            row_ids,
            query,
            metric,
            k,
            key="neighbors",
            quiet=True,
        )
        job.succeeded.connect(self.neighbors_found)
        job.failed.connect(self.failed)

    def ask_hover(self, row: int, row_ids: tuple[int, ...], query: str) -> None:
        """The nearest five of a row under the pointer."""
        if self.info is None:
            return
        job = self.runner.start(
            "model", "Nearest", spaces.neighbors, *self._table(), row_ids, query, "cosine", 5, key="hover", quiet=True
        )
        job.succeeded.connect(lambda found: self.hover_found.emit(row, found))

    def ask_tokens(self, text: str) -> None:
        """The tokens of a text."""
        if self.info is None or not self.info.has_tokenizer:
            return
        ref = self.info.card.source
        job = self.runner.start("model", "Tokens", spaces.tokenize, ref, text, key="tokens", quiet=True)
        job.succeeded.connect(lambda tokens: self.tokens_found.emit(text, tokens))
        job.failed.connect(self.failed)

    def ask_count(self, rows: Rows) -> None:
        """How many rows a choice would give."""
        if self.info is None:
            return
        ref = self.info.card.source
        job = self.runner.start("model", "Counting", spaces.count_rows, ref, rows, key="count", quiet=True)
        job.succeeded.connect(self.counted)
        job.failed.connect(self.counted)

    def _table(self) -> tuple[str, Kind, Transform]:
        assert self.info is not None
        recipe = self.document.record.recipe if self.document.record is not None else Recipe(self.info.card.source)
        # While another model is opening, the rows on the map are still the former one's.
        other = bool(recipe.identity) and recipe.identity != self.info.card.identity
        return (recipe.model if other else self.info.card.source, recipe.kind, recipe.transform)

    def _model_at_hand(self) -> bool:
        if self.info is None:
            self.told.emit("This needs the model; open it from the Model menu.")
            return False
        return True
