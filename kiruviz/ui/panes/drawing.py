"""How the map is drawn: the projection and its parameters; below it stands how the rows are grouped."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox, QVBoxLayout, QWidget

from kiruviz.tasks.maps import default_params
from kiruviz.ui.conductor import Conductor, MapChoice
from kiruviz.ui.document import Document
from kiruviz.ui.keys import tip_with_key
from kiruviz.ui.panes.grouping import GroupingPane
from kiruviz.ui.theme import Theme
from kiruviz.ui.widgets.basics import (
    Choice,
    Field,
    Fold,
    Section,
    button,
    label,
    real_number,
    row,
    whole_number,
)

_UMAP_FIELDS: tuple[tuple[str, str, str], ...] = (
    ("n_neighbors", "Neighbours", "Rows that each row is tied to: few show islands, many the whole"),
    ("min_dist", "Minimum distance", "How close together points may be packed"),
    ("seed", "Seed", "The same seed gives the same map"),
)
_MORE_UMAP_FIELDS: tuple[tuple[str, str, str], ...] = (
    ("spread", "Spread", "The scale of the map, with the minimum distance"),
    ("n_epochs", "Epochs", "Passes of the layout; auto is umap-learn's rule: 500, or 200 above 10,000 rows"),
    ("learning_rate", "Learning rate", "The first step's size"),
    ("negative_sample_rate", "Negative samples", "Rows pushed away for each one pulled close"),
    ("repulsion_strength", "Repulsion", "Weight of the pushing"),
    ("local_connectivity", "Local connectivity", "Neighbours taken as fully connected"),
    ("set_op_mix_ratio", "Set mix", "1 for union, 0 for intersection of the neighbourhoods"),
)
_RANGES: dict[str, tuple[float, float, float]] = {
    "n_neighbors": (2, 500, 1),
    "min_dist": (0.0, 10.0, 0.05),
    "seed": (0, 999_999, 1),
    "spread": (0.05, 20.0, 0.1),
    "n_epochs": (0, 10_000, 50),
    "learning_rate": (0.01, 20.0, 0.1),
    "negative_sample_rate": (1, 50, 1),
    "repulsion_strength": (0.0, 20.0, 0.1),
    "local_connectivity": (1.0, 20.0, 1.0),
    "set_op_mix_ratio": (0.0, 1.0, 0.05),
}
_WHOLE = ("n_neighbors", "seed", "n_epochs", "negative_sample_rate")


class DrawingPane(QWidget):
    """The projection's and the clusterer's settings.

    wanted(MapChoice) when the person asks for a map with them.
    """

    wanted = Signal(object)

    def __init__(self, document: Document, conductor: Conductor) -> None:
        super().__init__()
        self._document = document
        self._conductor = conductor
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        self.fields: dict[str, QSpinBox | QDoubleSpinBox] = {}
        box.addWidget(self._build_projection())
        self.grouping = GroupingPane(document, conductor)
        self.grouping.wanted.connect(self.apply)
        box.addWidget(self.grouping)
        document.space_changed.connect(self._space_changed)
        document.coords_changed.connect(lambda final: self._show_note() if final else None)

    def set_theme(self, theme: Theme) -> None:
        self.grouping.set_theme(theme)

    def _build_projection(self) -> Section:
        self.draw_button = button("Draw", self.apply, "link")
        tip_with_key(self.draw_button, "Draw the map with these parameters", "draw")
        section = Section("Projection", self.draw_button)
        self.method = Choice([("umap", "UMAP"), ("pca", "PCA")], "Method")
        self.metric_choice = Choice([("cosine", "cosine"), ("euclidean", "Euclidean")], "Metric of the neighbours")
        self.method.chosen.connect(lambda _: self._method_chosen())
        section.body.addLayout(row(self.method, self.metric_choice))
        self.umap_box = QWidget()
        inner = QVBoxLayout(self.umap_box)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(7)
        more = QWidget()
        more_box = QVBoxLayout(more)
        more_box.setContentsMargins(0, 0, 0, 0)
        more_box.setSpacing(7)
        for fields, target in ((_UMAP_FIELDS, inner), (_MORE_UMAP_FIELDS, more_box)):
            for name, caption, tip in fields:
                target.addWidget(self._field(name, caption, tip))
        section.add(self.umap_box)
        self.note = label("", "small", wrap=True)
        self.more = Fold("All", more, "Fewer", beside=self.note)
        self.more.link.setToolTip("All parameters of UMAP")
        section.add(self.more)
        self._fill_params(default_params("umap", 200))
        return section

    def _field(self, name: str, caption: str, tip: str) -> Field:
        low, high, step = _RANGES[name]
        control: QSpinBox | QDoubleSpinBox
        if name in _WHOLE:
            control = whole_number(int(low), int(low), int(high))
            control.setSingleStep(int(step))
        else:
            control = real_number(low, low, high, step)
        if name == "n_epochs":
            control.setSpecialValueText("auto")
        control.lineEdit().returnPressed.connect(self.apply)
        self.fields[name] = control
        return Field(caption, control, tip)

    # What is chosen

    def choice(self) -> MapChoice:
        """The settings as they stand; parameters that are the method's defaults for these rows are left out."""
        method: Any = self.method.value
        params: dict[str, Any] = {}
        if method == "umap":
            rows = len(self._document.record) if self._document.record is not None else 200
            for name, default in default_params("umap", rows).items():
                value = self._value(name)
                if value is not None and value != default:
                    params[name] = value
        return MapChoice(method, params, self.grouping.spec())

    def _method_chosen(self) -> None:
        self._show_method()
        self.apply()

    def apply(self) -> None:
        self.wanted.emit(self.choice())

    def _value(self, name: str) -> Any:
        if name == "metric":
            return self.metric_choice.value
        if name not in self.fields:
            return None
        value = self.fields[name].value()
        if name == "n_epochs":
            return int(value) or None
        return value if name in _WHOLE else round(float(value), 6)

    def _fill_params(self, params: dict[str, Any]) -> None:
        for name, field in self.fields.items():
            field.blockSignals(True)
            value = params.get(name)
            if isinstance(field, QSpinBox):
                field.setValue(0 if value is None else int(value))
            else:
                field.setValue(0.0 if value is None else float(value))
            field.blockSignals(False)
        self.metric_choice.set_value(params.get("metric", "cosine"))

    # What is shown

    def _space_changed(self) -> None:
        if self._document.record is None:
            return
        params = default_params("umap", len(self._document.record)) | self._conductor.choice.params
        self._fill_params(params)
        self._show_method()

    def _show_method(self) -> None:
        is_umap = self.method.value == "umap"
        self.umap_box.setVisible(is_umap)
        self.metric_choice.setVisible(is_umap)
        self.more.link.setVisible(is_umap)
        self.more.content.setVisible(is_umap and self.more.is_open)

    def _show_note(self) -> None:
        shown = self._document.projection
        if shown is None:
            return
        method, params = shown
        if method == "umap":
            self._fill_params(params)
        waiting = method == "pca" and self.method.value == "umap" and self._document.record is not None
        if method == "pca":
            text = f"PCA: {self._document.projection_note}" if self._document.projection_note else "PCA"
            self.note.setText(text + ("; Draw unfolds UMAP from it" if waiting else ""))
        else:
            self.note.setText(f"UMAP, {params.get('metric', 'cosine')}, seed {params.get('seed', 0)}")
