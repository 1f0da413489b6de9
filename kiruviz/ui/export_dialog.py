"""Export figure: what it will be, seen before it is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QImage, QPixmap, QResizeEvent
from PySide6.QtWidgets import QDialog, QFileDialog, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from kiruviz.errors import UserError
from kiruviz.figures.spec import FigureSpec
from kiruviz.tasks.exports import figure_fonts
from kiruviz.tasks.kept_figure import FigureSettings
from kiruviz.ui.figure_form import FigureForm
from kiruviz.ui.figure_subjects import Subject
from kiruviz.ui.widgets.basics import button, label, row
from kiruviz.ui.widgets.clipboard import copy_picture

if TYPE_CHECKING:
    from kiruviz.ui.window import MainWindow

_SETTLE_MS = 200
_FILTERS = {"svg": "SVG (*.svg)", "pdf": "PDF (*.pdf)", "png": "PNG (*.png)"}
_COPY_PX = 2400  # as wide as a slide; larger pictures take the window too long to hand over


class ExportDialog(QDialog):
    """Settings at the left, the true preview at the right: the same drawing that is written."""

    def __init__(self, window: MainWindow, subject: Subject) -> None:
        super().__init__(window)
        self._window = window
        self._subject = subject
        self._picture = QPixmap()
        self.setWindowTitle(subject.heading)
        self.resize(1080, 650)
        box = QHBoxLayout(self)
        box.setContentsMargins(20, 16, 20, 16)
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
        self.form.changed.connect(self._settle.start)
        self._draw_preview()
        fonts = window.runner.start("paper", "Fonts", figure_fonts, key="fonts", quiet=True)
        fonts.succeeded.connect(self.form.set_fonts)

    def _make_settings(self) -> QWidget:
        content = QWidget()
        content.setFixedWidth(316)
        box = QVBoxLayout(content)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(8)
        box.addWidget(label(self._subject.heading, "title"))
        self.form = FigureForm(self._subject.is_map)
        self.form.show_settings(self._subject.settings)
        box.addWidget(self.form)
        self.problem = label("", "warning", wrap=True)
        self.notes = label("", "small", wrap=True)
        for said in (self.problem, self.notes):
            box.addWidget(said)
            said.hide()
        box.addStretch(1)
        self.save_button = button("Save…", self.save, "primary")
        self.copy_button = button("Copy", self.copy, tip="The picture, and with it the SVG where that is the format")
        box.addLayout(row(self.copy_button, 1, button("Close", self.reject), self.save_button))
        self.save_button.setDefault(True)
        return content

    # Settings

    def settings(self) -> FigureSettings | None:
        """The figure as it is set; None, and the reason is said, where a value is out of range."""
        try:
            settings = self.form.settings()
        except UserError as error:
            self._say_problem(str(error))
            return None
        self._say_problem("")
        return settings

    def _say_problem(self, sentence: str) -> None:
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))
        # What cannot be drawn cannot be written.
        for part in (self.save_button, self.copy_button):
            part.setEnabled(not sentence)

    # Preview

    def _draw_preview(self) -> None:
        settings = self.settings()
        if settings is None:
            return
        width = max(self._preview_size(settings.spec).width(), 200)
        task, *args = self._subject.preview(settings, width)
        job = self._window.runner.start("paper", "Preview", task, *args, key="preview", quiet=True)
        job.succeeded.connect(self._show_preview)
        job.failed.connect(lambda error: self._say_problem(error.sentence))

    def _preview_size(self, spec: FigureSpec) -> QSize:
        room = self.preview.size() * self.devicePixelRatioF()
        scale = min(room.width() / spec.width_mm, room.height() / spec.height_mm)
        return QSize(int(spec.width_mm * scale), int(spec.height_mm * scale))

    def _show_preview(self, drawn: Any) -> None:
        self._picture = QPixmap()
        self._picture.loadFromData(drawn.png)
        self._picture.setDevicePixelRatio(self.devicePixelRatioF())
        self._fit_preview()
        self.notes.setText("\n".join(drawn.notes))
        self.notes.setVisible(bool(drawn.notes))

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

    # Away with it

    def save(self) -> None:
        """Ask where to, then write in the background."""
        settings = self.settings()
        if settings is None:
            return
        suffix = settings.format
        name = f"{self._subject.name}.{suffix}"
        chosen, _ = QFileDialog.getSaveFileName(self, self._subject.heading, name, _FILTERS[suffix])
        if chosen:
            self.save_to(Path(chosen), settings)

    def save_to(self, path: Path, settings: FigureSettings) -> None:
        """Write the figure to `path`, keep how it was made, and close the dialog."""
        out = path if path.suffix else path.with_suffix(f".{settings.format}")
        self._subject.keep(settings)
        task, *args = self._subject.write(settings, str(out))
        job = self._window.runner.start("paper", self._subject.heading, task, *args, overwrite=True, key="export")
        job.succeeded.connect(lambda written: self._window.tell(f"Wrote {Path(written).name}"))
        job.failed.connect(self._window.show_error)
        self.accept()

    def copy(self) -> None:
        """Put the figure on the clipboard: as a picture and, where that is the format, as SVG."""
        settings = self.settings()
        if settings is None:
            return
        self._subject.keep(settings)
        width = min(round(settings.spec.width_mm / 25.4 * settings.spec.dpi), _COPY_PX)
        as_svg = settings.format == "svg"
        task, *args = self._subject.copy(settings, width, as_svg)
        job = self._window.runner.start("paper", "Copying the figure", task, *args, key="copy")
        job.succeeded.connect(lambda copied: self._to_clipboard(*copied))
        job.failed.connect(lambda error: self._say_problem(error.sentence))

    def _to_clipboard(self, png: bytes, svg: bytes) -> None:
        copy_picture(QImage.fromData(png), svg)
        self._window.tell("Copied the picture and its SVG." if svg else "Copied the picture.")
