"""Pictures on the clipboard, and a program that ends well with one there."""

from __future__ import annotations

import subprocess
import sys

import pytest
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QApplication

from kiruviz.ui.widgets.clipboard import copy_picture

_PROGRAM = """
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from kiruviz.ui.widgets.clipboard import copy_picture

app = QApplication([])
copy_picture(QImage(20, 10, QImage.Format.Format_RGB32), b"<svg/>")
print(QApplication.clipboard().mimeData().formats())
"""


@pytest.mark.qt
def test_a_picture_comes_with_its_svg_where_there_is_one(qapp: QApplication) -> None:
    image = QImage(20, 10, QImage.Format.Format_RGB32)
    image.fill(0)
    copy_picture(image, b"<svg/>")
    data = QGuiApplication.clipboard().mimeData()
    assert (data.text(), data.data("image/svg+xml").data()) == ("<svg/>", b"<svg/>")
    assert QGuiApplication.clipboard().image().width() == 20
    copy_picture(image)
    assert not QGuiApplication.clipboard().mimeData().hasText()
    assert QGuiApplication.clipboard().image().height() == 10


def test_a_program_with_a_picture_on_the_clipboard_ends_well() -> None:
    run = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert "image/svg+xml" in run.stdout
