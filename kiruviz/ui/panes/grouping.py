"""How the rows are grouped: method, metric, parameters, and what each value would give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox, QVBoxLayout, QWidget

from kiruviz.analysis.effect import Effect
from kiruviz.analysis.grouping import (
    COSINE_MEANS,
    LINKAGES,
    METHODS,
    PARAMS,
    TITLES,
    ClusterMethod,
    ClusterMetric,
    ClusterParams,
    ClusterSpec,
)
from kiruviz.figures.curve_figure import CurvePicture
from kiruviz.tasks.curves import effect_curve
from kiruviz.tasks.maps import FEW_ROWS
from kiruviz.ui.conductor import Conductor
from kiruviz.ui.document import Document
from kiruviz.ui.keys import tip_with_key
from kiruviz.ui.panes.effect_curve import EffectCurve, words_for
from kiruviz.ui.theme import Theme
from kiruviz.ui.widgets.basics import Choice, Field, Fold, Section, button, label, real_number, row, whole_number

Control: TypeAlias = QSpinBox | QDoubleSpinBox | Choice


@dataclass(frozen=True)
class _Spec:
    """A parameter's field: a whole number from `low` to `high`, a real one with `decimals`, or one of `items`.

    `none` is what stands for no value, in place of the lowest number.
    """

    name: str
    caption: str
    tip: str
    low: float = 0
    high: float = 0
    step: float = 1
    decimals: int = 0
    none: str = ""
    items: tuple[tuple[str, str], ...] = ()
    main: bool = False


_SEED = _Spec("seed", "Seed", "The same seed gives the same clusters", 0, 999_999)
_K = _Spec("k", "Clusters, k", "How many clusters", 1, 500, main=True)
_SELECTIONS = (("eom", "most persistent"), ("leaf", "smallest (leaves)"))
_FIELDS: dict[ClusterMethod, tuple[_Spec, ...]] = {
    "kmeans": (
        _K,
        _Spec("n_init", "Runs, n_init", "k-means starts so often and keeps the best", 1, 200),
        _SEED,
    ),
    "hdbscan": (
        _Spec("min_cluster_size", "Smallest cluster", "Groups of fewer rows are noise", 2, 100_000, main=True),
        _Spec("min_samples", "Samples", "Rows near a row that make it dense: more give more noise", 0, 10_000,
              none="as size"),
        _Spec("cluster_selection_method", "Selection", "Which groups of the tree: those that last longest (eom), or "
              "the smallest ones (leaf)", items=_SELECTIONS),
        _Spec("cluster_selection_epsilon", "Epsilon", "Groups nearer than this distance are not parted",
              0, 1000, 0.05, 3),
    ),
    "agglomerative": (
        _K,
        _Spec("linkage", "Linkage", "Which two groups are merged next: least added variance (ward), or nearest by "
              "mean, farthest or closest rows", items=tuple((one, one) for one in LINKAGES), main=True),
        _Spec("distance_threshold", "Distance", "Merge up to this distance, instead of down to k", 0, 10_000, 0.1, 3,
              none="by k"),
    ),
    "evoc": (
        _Spec("layer", "Layer", "1 is the coarsest; auto is the one EVoC holds most persistent", 0, 20, none="auto",
              main=True),
        _Spec("base_min_cluster_size", "Smallest cluster", "In the finest layer; smaller groups are noise", 2, 10_000),
        _Spec("n_neighbors", "Neighbours", "Rows that each row is tied to", 4, 500),
        _Spec("min_samples", "Samples", "Rows near a row that make it dense", 1, 10_000),
        _Spec("noise_level", "Noise level", "0 puts more rows into clusters, 1 leaves more out", 0, 1, 0.1, 2),
        _SEED,
    ),
}  # fmt: skip
_METRICS: tuple[tuple[ClusterMetric, str], ...] = (("euclidean", "Euclidean"), ("cosine", "cosine"))


class GroupingPane(QWidget):
    """The clusterer's settings. What they would give is shown before it is taken.

    wanted() when the person asks for clusters with them.
    """

    wanted = Signal()

    def __init__(self, document: Document, conductor: Conductor) -> None:
        super().__init__()
        self._document = document
        self._conductor = conductor
        self.controls: dict[tuple[ClusterMethod, str], Control] = {}
        self._boxes: list[tuple[ClusterMethod, QWidget]] = []
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        self.cluster_button = button("Cluster", self.wanted.emit, "link")
        tip_with_key(self.cluster_button, "Group the rows with these parameters", "draw")
        section = Section("Clusters", self.cluster_button, last=True)
        box.addWidget(section)
        self.method = Choice([(name, TITLES[name]) for name in METHODS], "Method of the clusters")
        self.metric_choice = Choice(_METRICS, "Metric of the clusters")
        choices = row(self.method, self.metric_choice)
        choices.setStretch(0, 4)  # “Agglomerative” is the longest
        choices.setStretch(1, 3)
        section.body.addLayout(choices)
        self.meaning = label("", "small", wrap=True)
        section.add(self.meaning)
        section.add(self._build_fields(main=True))
        self.curve = EffectCurve()
        section.add(self.curve)
        self.show_link = button("Show the effect", self._ask, "link", "Compute what each value would give")
        section.body.addLayout(row(self.show_link, 1))
        self.words = label("", "small", wrap=True, selectable=True)
        fold = Fold("All", self._build_fields(main=False), "Fewer", beside=self.words)
        fold.link.setToolTip("All parameters of the method")
        section.add(fold)
        for kind in PARAMS.values():
            self._fill_fields(kind())
        self._fill(ClusterSpec())
        self._connect()

    def _connect(self) -> None:
        document = self._document
        self.method.chosen.connect(lambda _: self._method_chosen())
        self.metric_choice.chosen.connect(lambda _: self._changed())
        self.curve.picked.connect(self._pick)
        self.curve.pointed.connect(lambda _: self._show_words())
        document.labels_changed.connect(self._follow)
        document.space_changed.connect(self._show_effect)
        document.effects_changed.connect(self._show_effect)

    def _build_fields(self, main: bool) -> QWidget:
        """The main fields of every method, or the others, one box a method."""
        holder = QWidget()
        outer = QVBoxLayout(holder)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        for method, specs in _FIELDS.items():
            inner = QWidget()
            box = QVBoxLayout(inner)
            box.setContentsMargins(0, 0, 0, 0)
            box.setSpacing(6)
            for spec in specs:
                if spec.main == main:
                    control = self._control(spec)
                    self.controls[method, spec.name] = control
                    box.addWidget(Field(spec.caption, control, spec.tip))
            self._boxes.append((method, inner))
            outer.addWidget(inner)
        return holder

    def _control(self, spec: _Spec) -> Control:
        if spec.items:
            choice = Choice(spec.items, spec.caption)
            choice.setFixedWidth(116)
            choice.chosen.connect(lambda _: self._changed())
            return choice
        control: QSpinBox | QDoubleSpinBox
        if spec.decimals:
            control = real_number(spec.low, spec.low, spec.high, spec.step, spec.decimals)
        else:
            control = whole_number(int(spec.low), int(spec.low), int(spec.high))
        control.setSpecialValueText(spec.none)
        control.valueChanged.connect(lambda _: self._changed())
        control.lineEdit().returnPressed.connect(self.wanted.emit)
        return control

    def set_theme(self, theme: Theme) -> None:
        self.curve.theme = theme
        self.curve.update()

    # What is chosen

    @property
    def chosen(self) -> ClusterMethod:
        """The method whose fields are shown."""
        return cast(ClusterMethod, self.method.value)

    def control(self, name: str) -> Control:
        """The field of a parameter of the method that is shown."""
        return self.controls[self.chosen, name]

    def spec(self) -> ClusterSpec:
        """The settings as they stand."""
        method = self.chosen
        metric: Any = self.metric_choice.value
        values = {spec.name: self._value(method, spec) for spec in _FIELDS[method]}
        return ClusterSpec(PARAMS[method](**values), metric)

    def _value(self, method: ClusterMethod, spec: _Spec) -> Any:
        control = self.controls[method, spec.name]
        if isinstance(control, Choice):
            return control.value
        if spec.none and control.value() == control.minimum():
            return None
        return round(control.value(), 6) if spec.decimals else int(control.value())

    def _fill(self, spec: ClusterSpec) -> None:
        """Show a spec in the fields."""
        self.method.set_value(spec.method)
        self._offer_metrics(spec.metric)
        self._fill_fields(spec.params)
        self._show_method()

    def _fill_fields(self, params: ClusterParams) -> None:
        for one in _FIELDS[params.method]:
            control, value = self.controls[params.method, one.name], getattr(params, one.name)
            if isinstance(control, Choice):
                control.set_value(value)
                continue
            control.blockSignals(True)
            control.setValue(one.low if value is None else value)  # type: ignore[arg-type]
            control.blockSignals(False)

    def _offer_metrics(self, wished: ClusterMetric) -> None:
        """EVoC has cosine only."""
        evoc = self.chosen == "evoc"
        self.metric_choice.set_items(_METRICS[1:] if evoc else _METRICS)
        self.metric_choice.set_value("cosine" if evoc else wished)

    # What happens

    def _method_chosen(self) -> None:
        wished: Any = self.metric_choice.value
        self._offer_metrics(wished)
        self._show_method()
        self._changed()

    def _changed(self) -> None:
        """Other settings: for few rows what they would give is computed unasked."""
        self._show_method()
        self._conductor.consider(self.spec())
        self._show_effect()

    def _follow(self) -> None:
        """Show the settings of the clusters on screen, which undo may have brought back."""
        spec = self._document.cluster_spec
        if spec is not None:
            self._fill(spec)
            self._conductor.considered = spec
        self._show_effect()

    def _ask(self) -> None:
        self._conductor.ask_effect(self.spec())
        self._show_effect()

    def _pick(self, value: int) -> None:
        control = self.control(PARAMS[self.chosen].main)
        assert isinstance(control, QSpinBox)
        for one, blank in ((control, value), (self.controls.get((self.chosen, "distance_threshold")), 0)):
            if one is not None and not isinstance(one, Choice):
                one.blockSignals(True)
                one.setValue(blank)
                one.blockSignals(False)
        self._show_method()
        self.wanted.emit()

    # What is shown

    def _show_method(self) -> None:
        method = self.chosen
        for name, box in self._boxes:
            box.setVisible(name == method)
        cosine = self.metric_choice.value == "cosine"
        self.meaning.setText(f"Cosine: {COSINE_MEANS}." if cosine else "")
        self.meaning.setVisible(cosine)
        threshold = self.controls["agglomerative", "distance_threshold"]
        assert isinstance(threshold, QDoubleSpinBox)
        self.controls["agglomerative", "k"].setEnabled(threshold.value() == 0)

    def _show_effect(self) -> None:
        document, spec = self._document, self.spec()
        found = document.effects.get(spec.without_value())
        used = document.cluster_spec
        same = used is not None and used.without_value() == spec.without_value()
        in_use = None if used is None or not same else used.value
        if same and in_use is None and found is not None and spec.method == "evoc":
            in_use = found.preferred
        self.curve.show_effect(found, in_use)
        self.curve.setVisible(found is not None and len(found.points) > 0)
        rows = 0 if document.record is None else len(document.record)
        unasked = rows <= FEW_ROWS and spec.method != "evoc"
        known = found is not None and (found.complete or self._conductor.finds_effect)
        self.show_link.setVisible(rows > 0 and not known and not unasked)
        self._show_words()

    def _show_words(self) -> None:
        """What the value that is looked at would give, else the one in the field."""
        found = self._document.effects.get(self.spec().without_value())
        self.words.setText("" if found is None else self._words(found))

    def _words(self, found: Effect) -> str:
        point = self.curve.point
        value = point.value if point is not None else self.spec().value or found.preferred
        return next((words_for(found, one) for one in found.points if one.value == value), "")

    def curve_picture(self) -> CurvePicture | None:
        """The curve as a figure shows it; None where there is none."""
        shown, record = self.curve.effect, self._document.record
        if shown is None or not shown.points or record is None:
            return None
        return effect_curve(shown, self.curve.used, record)
