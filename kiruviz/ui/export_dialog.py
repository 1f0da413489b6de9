"""Export figure: what it will be, seen before it is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QImage, QPixmap, QResizeEvent
from PySide6.QtWidgets import QCheckBox, QDialog, QFileDialog, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from kiruviz.errors import UserError
from kiruviz.figures.spec import PRESETS, FigureSpec
from kiruviz.tasks import exports
from kiruviz.ui.widgets.basics import Choice, Field, button, hairline, label, real_number, row, whole_number

if TYPE_CHECKING:
    from kiruviz.ui.window import MainWindow

_SETTLE_MS = 200
_FILTERS = {"svg": "SVG (*.svg)", "pdf": "PDF (*.pdf)", "png": "PNG (*.png)"}
_OWN_SIZE = "Own size"


class ExportDialog(QDialog):
    """Settings at the left, the true preview at the right: the same drawing that is written."""

    def __init__(self, window: MainWindow, view: exports.MapView) -> None:
        super().__init__(window)
        self._window = window
        self._view = view
        self._picture = QPixmap()
        self.setWindowTitle("Export figure")
        self.resize(1040, 640)
        box = QHBoxLayout(self)
        box.setContentsMargins(20, 18, 20, 18)
        box.setSpacing(20)
        box.addWidget(self._make_settings())
        self.preview = QLabel("Drawing…")
        self.preview.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.preview.setMinimumSize(480, 360)
        self.preview.setAccessibleName("Preview")
        box.addWidget(self.preview, 1)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self._draw_preview)
        self._draw_preview()

    def _make_settings(self) -> QWidget:
        dark = self._window.themes.theme.ground == "dark"
        self.format = Choice([("svg", "SVG"), ("pdf", "PDF"), ("png", "PNG")], "Format")
        self.preset = Choice([*((name, name) for name in PRESETS), (_OWN_SIZE, _OWN_SIZE)], "Size")
        self.preset.set_value("Two columns")
        self.unit = Choice([("mm", "mm"), ("in", "in")], "Unit")
        width, height = PRESETS["Two columns"]
        self.width_mm = real_number(width, 20, 1000, 1, 1, 84)
        self.height_mm = real_number(height, 20, 1000, 1, 1, 84)
        self.dpi = whole_number(300, 30, 1200, 84)
        self.font_size = real_number(7.0, 3, 48, 0.5, 1, 84)
        self.theme = Choice([("paper", "Paper (white)"), ("dark", "Dark")], "Theme")
        self.labels = Choice([("auto", "Words and names"), ("names", "Cluster names"), ("none", "None")], "Labels")
        self.area = Choice([("all", "Whole map"), ("view", "As on screen")], "Area")
        self.title = QLineEdit()
        self.title.setPlaceholderText("Title: the model and its rows")
        self.title.setAccessibleName("Title")
        self.legend = QCheckBox("Legend")
        self.legend.setChecked(True)
        self.caption = QCheckBox("Caption: how it was made")
        self.theme.setToolTip("The window is dark; paper is usually white" if dark else "")
        content = QWidget()
        content.setFixedWidth(316)
        for choice in (self.format, self.preset, self.unit, self.theme, self.labels, self.area):
            choice.setFixedWidth(176)
        box = QVBoxLayout(content)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(9)
        box.addWidget(label("Export figure", "title"))
        box.addWidget(Field("Format", self.format))
        box.addWidget(Field("Size", self.preset))
        box.addLayout(row(label("Width, height", "muted"), 1, self.width_mm, self.height_mm))
        box.addWidget(Field("Unit", self.unit))
        box.addWidget(Field("Resolution, dpi", self.dpi))
        box.addWidget(Field("Font size, pt", self.font_size))
        box.addWidget(hairline())
        box.addWidget(Field("Theme", self.theme))
        box.addWidget(Field("Labels", self.labels))
        box.addWidget(Field("Area", self.area))
        box.addWidget(self.title)
        box.addWidget(self.legend)
        box.addWidget(self.caption)
        self.problem = label("", "warning", wrap=True)
        box.addWidget(self.problem)
        box.addStretch(1)
        self.save_button = button("Save…", self.save, "primary")
        box.addLayout(row(button("Copy picture", self.copy), 1, button("Close", self.reject), self.save_button))
        self.save_button.setDefault(True)
        self._connect()
        return content

    def _connect(self) -> None:
        self.preset.chosen.connect(self._use_preset)
        self.unit.chosen.connect(self._use_unit)
        for side in (self.width_mm, self.height_mm):
            side.valueChanged.connect(lambda _: self._own_size())
        self.dpi.valueChanged.connect(lambda _: self._settle.start())
        self.font_size.valueChanged.connect(lambda _: self._settle.start())
        for choice in (self.theme, self.labels, self.area):
            choice.chosen.connect(lambda _: self._settle.start())
        for check in (self.legend, self.caption):
            check.toggled.connect(lambda _: self._settle.start())
        self.title.textChanged.connect(lambda _: self._settle.start())

    @property
    def _per_unit(self) -> float:
        return 25.4 if self.unit.value == "in" else 1.0

    def spec(self) -> FigureSpec:
        """The figure as it is set here; raises UserError for a value out of range."""
        theme: Any = self.theme.value
        labels: Any = self.labels.value
        return FigureSpec(
            width_mm=round(self.width_mm.value() * self._per_unit, 2),
            height_mm=round(self.height_mm.value() * self._per_unit, 2),
            dpi=self.dpi.value(),
            theme=theme,
            font_size_pt=self.font_size.value(),
            legend=self.legend.isChecked(),
            title=self.title.text().strip() or None,
            labels=labels,
            caption=self.caption.isChecked(),
        )

    def view(self) -> exports.MapView:
        rectangle = self._view.rectangle if self.area.value == "view" else None
        return exports.MapView(self._view.color_by, rectangle)

    def _use_preset(self, name: object) -> None:
        if name in PRESETS:
            self._set_size(*PRESETS[str(name)])
            self._settle.start()

    def _own_size(self) -> None:
        self.preset.set_value(_OWN_SIZE)
        self._settle.start()

    def _use_unit(self, unit: object) -> None:
        before = 1.0 if unit == "in" else 25.4
        self._set_size(self.width_mm.value() * before, self.height_mm.value() * before)

    def _set_size(self, width: float, height: float) -> None:
        inches = self.unit.value == "in"
        for field, value in ((self.width_mm, width), (self.height_mm, height)):
            field.blockSignals(True)
            field.setDecimals(2 if inches else 1)
            field.setRange(20 / self._per_unit, 1000 / self._per_unit)
            field.setValue(value / self._per_unit)
            field.blockSignals(False)

    def _draw_preview(self) -> None:
        session = self._window.document.session
        if session is None:
            return
        try:
            spec = self.spec()
        except UserError as error:
            self.problem.setText(str(error))
            return
        self.problem.setText("")
        width = self._preview_size(spec).width()
        job = self._window.runner.start(
            "paper",
            "Preview",
            exports.preview_figure,
            str(session.path),
            spec,
            self.view(),
            max(width, 200),
            key="preview",
            quiet=True,
        )
        job.succeeded.connect(self._show_preview)
        job.failed.connect(lambda error: self.problem.setText(error.sentence))

    def _preview_size(self, spec: FigureSpec) -> QSize:
        room = self.preview.size() * self.devicePixelRatioF()
        scale = min(room.width() / spec.width_mm, room.height() / spec.height_mm)
        return QSize(int(spec.width_mm * scale), int(spec.height_mm * scale))

    def _show_preview(self, png: bytes) -> None:
        self._picture = QPixmap()
        self._picture.loadFromData(png)
        self._picture.setDevicePixelRatio(self.devicePixelRatioF())
        self._fit_preview()

    def _fit_preview(self) -> None:
        if not self._picture.isNull():
            room = self.preview.size() * self.devicePixelRatioF()
            shown = self._picture.scaled(
                room, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            )
            self.preview.setPixmap(shown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_preview()
        self._settle.start()

    def save(self) -> None:
        """Ask where to, then write in the background."""
        try:
            spec = self.spec()
        except UserError as error:
            self.problem.setText(str(error))
            return
        suffix = str(self.format.value)
        name, _ = QFileDialog.getSaveFileName(self, "Export figure", f"map.{suffix}", _FILTERS[suffix])
        if name:
            self.save_to(Path(name), spec)

    def save_to(self, path: Path, spec: FigureSpec) -> None:
        """Write the figure to `path` and close the dialog."""
        out = path if path.suffix else path.with_suffix(f".{self.format.value}")
        self._window.commands.run_export("Export figure", exports.export_figure, str(out), spec, self.view())
        self.accept()

    def copy(self) -> None:
        """Put the preview on the clipboard."""
        if not self._picture.isNull():
            image: QImage = self._picture.toImage()
            QGuiApplication.clipboard().setImage(image)
            self._window.tell("Copied the picture.")
