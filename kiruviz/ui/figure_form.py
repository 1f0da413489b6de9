"""What can be set of a figure: paper, text, what the picture shows, and what stands around it."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QLineEdit, QVBoxLayout, QWidget

from kiruviz.figures.spec import PRESETS, FigureSpec, Labels, Legend, TextAs, Theme
from kiruviz.tasks.kept_figure import Area, FigureSettings, MapView
from kiruviz.ui.widgets.basics import Choice, Field, hairline, label, real_number, row, whole_number

_OWN_SIZE = "Own size"
_WIDTH = 176
_TEXTS = (("text", "Text, font inside"), ("outlines", "Outlines"))
_LABELS = (
    ("auto", "Words and names"),
    ("words", "Words"),
    ("names", "Cluster names"),
    ("selection", "Names and selection"),
    ("none", "None"),
)
_LEGENDS = (("auto", "Where there is room"), ("right", "At the right"), ("below", "Below"), ("none", "None"))


class FigureForm(QWidget):
    """The fields of a figure; those about maps are left out for other pictures.

    changed() when the person changed anything but the format.
    """

    changed = Signal()

    def __init__(self, of_map: bool) -> None:
        super().__init__()
        self._of_map = of_map
        self._view = MapView()
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(8)
        self._make_paper()
        self._make_text()
        self._box.addWidget(hairline())
        self._make_picture()
        self._make_around()
        for choice in (
            self.format,
            self.preset,
            self.theme,
            self.labels,
            self.area,
            self.legend,
            self.text,
            self.family,
        ):
            choice.setFixedWidth(_WIDTH)
        self._connect()

    def _make_paper(self) -> None:
        self.format = Choice([("svg", "SVG"), ("pdf", "PDF"), ("png", "PNG")], "Format")
        self.preset = Choice([*((name, name) for name in PRESETS), (_OWN_SIZE, _OWN_SIZE)], "Size")
        self.unit = Choice([("mm", "mm"), ("in", "in")], "Unit")
        self.unit.setFixedWidth(64)
        self.width_mm = real_number(180, 20, 1000, 1, 1, 56)
        self.height_mm = real_number(120, 20, 1000, 1, 1, 56)
        self.width_mm.setAccessibleName("Width")
        self.height_mm.setAccessibleName("Height")
        self.dpi = whole_number(300, 30, 1200, 56)
        self._box.addWidget(Field("Format", self.format))
        self._box.addWidget(Field("Size", self.preset))
        sides = row(label("Width, height", "muted"), 1, self.width_mm, self.height_mm, self.unit, spacing=4)
        self._box.addLayout(sides)
        self._box.addWidget(Field("Resolution, dpi", self.dpi, "Of PNG, and of many points in SVG and PDF"))

    def _make_text(self) -> None:
        self.family = Choice([("Inter", "Inter")], "Font")
        self.font_size = real_number(7.0, 3, 48, 0.5, 1, 56)
        self.text = Choice(_TEXTS, "Text in the file")
        tip = "In SVG and PDF: text that can be searched and edited, or shapes that look the same everywhere"
        self._box.addWidget(Field("Font", self.family))
        self._box.addWidget(Field("Font size, pt", self.font_size))
        self._box.addWidget(Field("Text in the file", self.text, tip))

    def _make_picture(self) -> None:
        self.theme = Choice([("paper", "Paper (white)"), ("dark", "Dark")], "Theme")
        self.labels = Choice(_LABELS, "Labels")
        self.area = Choice([("all", "Whole map"), ("view", "As on screen")], "Area")
        self.legend = Choice(_LEGENDS, "Legend")
        self.point_size = real_number(0.0, 0.0, 40.0, 0.5, 1, 56)
        self.point_size.setSpecialValueText("auto")
        self._box.addWidget(Field("Theme", self.theme))
        for caption, control, tip in (
            (
                "Labels",
                self.labels,
                "Which texts stand on the map; of a selection, the words of the selected cluster or lasso",
            ),
            ("Area", self.area, ""),
            ("Legend", self.legend, ""),
            ("Point size, pt", self.point_size, "Diameter of a point; auto goes by their number"),
        ):
            field = Field(caption, control, tip)
            self._box.addWidget(field)
            field.setVisible(self._of_map)

    def _make_around(self) -> None:
        self.with_title = QCheckBox("Title")
        self.with_title.setChecked(True)
        self.title = QLineEdit()
        self.title.setPlaceholderText("The model and its rows" if self._of_map else "What the curve is of")
        self.title.setAccessibleName("Text of the title")
        self.title.setFixedWidth(_WIDTH)
        self.caption = QCheckBox("Caption: how it was made")
        self._box.addLayout(row(self.with_title, 1, self.title))
        self._box.addWidget(self.caption)

    def _connect(self) -> None:
        self.preset.chosen.connect(self._use_preset)
        self.unit.chosen.connect(self._use_unit)
        for side in (self.width_mm, self.height_mm):
            side.valueChanged.connect(lambda _: self._own_size())
        for field in (self.font_size, self.point_size, self.dpi):
            field.valueChanged.connect(lambda _: self.changed.emit())
        for choice in (self.theme, self.labels, self.area, self.legend, self.family, self.text):
            choice.chosen.connect(lambda _: self.changed.emit())
        self.caption.toggled.connect(lambda _: self.changed.emit())
        self.with_title.toggled.connect(self.title.setEnabled)
        self.with_title.toggled.connect(lambda _: self.changed.emit())
        self.title.textChanged.connect(lambda _: self.changed.emit())

    # What is set

    def settings(self) -> FigureSettings:
        """The figure as it is set here; raises UserError for a value out of range."""
        return FigureSettings(
            self._spec(), self._view, cast(Area, self.area.value), str(self.format.value), str(self.unit.value)
        )

    def _spec(self) -> FigureSpec:
        return FigureSpec(
            width_mm=round(self.width_mm.value() * self._per_unit, 2),
            height_mm=round(self.height_mm.value() * self._per_unit, 2),
            dpi=self.dpi.value(),
            theme=cast(Theme, self.theme.value),
            font=str(self.family.value),
            font_size_pt=self.font_size.value(),
            legend=cast(Legend, self.legend.value),
            title=(self.title.text().strip() or None) if self.with_title.isChecked() else "",
            labels=cast(Labels, self.labels.value),
            caption=self.caption.isChecked(),
            point_size=self.point_size.value() or None,
            text=cast(TextAs, self.text.value),
        )

    def show_settings(self, settings: FigureSettings) -> None:
        """Fill the fields; nothing is emitted."""
        spec = settings.spec
        self._view = settings.view
        with QSignalBlocker(self):
            for choice, value in (
                (self.format, settings.format),
                (self.unit, settings.unit),
                (self.theme, spec.theme),
                (self.labels, spec.labels),
                (self.area, settings.area),
                (self.legend, spec.legend),
                (self.text, spec.text),
            ):
                choice.set_value(value)
            self._show_font(spec.font)
            self._set_size(spec.width_mm, spec.height_mm)
            sizes = {size: name for name, size in PRESETS.items()}
            self.preset.set_value(sizes.get((spec.width_mm, spec.height_mm), _OWN_SIZE))
            self.dpi.setValue(spec.dpi)
            self.font_size.setValue(spec.font_size_pt)
            self.point_size.setValue(spec.point_size or 0.0)
            self.with_title.setChecked(spec.title != "")
            self.title.setText(spec.title or "")
            self.caption.setChecked(spec.caption)

    def set_fonts(self, families: tuple[str, ...]) -> None:
        """Offer the fonts of this computer, and the one in use even if it is not here."""
        chosen = str(self.family.value)
        self.family.set_items([(name, name) for name in families])
        self._show_font(chosen)

    def _show_font(self, family: str) -> None:
        if self.family.findData(family) < 0:
            with QSignalBlocker(self.family):
                self.family.addItem(family, family)
        self.family.set_value(family)

    # Size

    @property
    def _per_unit(self) -> float:
        return 25.4 if self.unit.value == "in" else 1.0

    def _use_preset(self, name: object) -> None:
        if name in PRESETS:
            self._set_size(*PRESETS[str(name)])
            self.changed.emit()

    def _own_size(self) -> None:
        self.preset.set_value(_OWN_SIZE)
        self.changed.emit()

    def _use_unit(self, unit: object) -> None:
        before = 1.0 if unit == "in" else 25.4
        self._set_size(self.width_mm.value() * before, self.height_mm.value() * before)

    def _set_size(self, width: float, height: float) -> None:
        for field, value in ((self.width_mm, width), (self.height_mm, height)):
            with QSignalBlocker(field):
                field.setDecimals(2 if self.unit.value == "in" else 1)
                field.setRange(20 / self._per_unit, 1000 / self._per_unit)
                field.setValue(value / self._per_unit)
