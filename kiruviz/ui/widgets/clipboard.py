"""Pictures on the clipboard."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QMimeData, QStringListModel
from PySide6.QtGui import QGuiApplication, QImage


def copy_picture(image: QImage, svg: bytes = b"") -> None:
    """Put a picture on the clipboard and, where there is one, its SVG as file content and as text."""
    data = _data_of_qt()
    data.setImageData(image)
    if svg:
        data.setData("image/svg+xml", QByteArray(svg))
        data.setText(svg.decode("utf-8"))
    QGuiApplication.clipboard().setMimeData(data)


def _data_of_qt() -> QMimeData:
    """An empty QMimeData that Qt made itself.

    The clipboard can outlive Python; letting go of one that Python made would then crash the program at its end.
    """
    model = QStringListModel([""])
    data = model.mimeData([model.index(0)])
    data.clear()
    return data
