"""Makes the pictures in docs/pictures from the real program on the real starter, and times its starts.

Needs a display: `xvfb-run -s "-screen 0 1920x1080x24" .venv/bin/python docs/make_pictures.py`. Starts the program
with an empty home, so the first start converts the model and compiles UMAP; then a second time; then once more
to name clusters. Prints seconds from the start of each process to the window, to the map with its clusters, and
to the finished UMAP.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QTimer

from kiruviz.ui.app import make_app
from kiruviz.ui.settings import Settings
from kiruviz.ui.theme import ThemeKeeper
from kiruviz.ui.window import MainWindow

PICTURES = Path(__file__).parent / "pictures"
SIZES = ((1280, 720), (1440, 900), (1920, 1080))
# A word of the cluster -> the name it gets; what holds "blue" resists.
NAMES = {
    "October": "months and days",
    "seven": "numbers",
    "father": "family and royalty",
    "could": "auxiliary verbs",
    "with": "function words",
    "France": "places",
}
RESISTS = "blue"
NOTE = "first names, colours, parts of the body and computing: what they share is a context, not a category"


class Sitting:
    """One start of the program: steps run one after the other, each when its moment has come."""

    def __init__(self, name: str) -> None:
        self.started = float(os.environ["KIRUVIZ_STARTED"])
        self.times: dict[str, float] = {}
        self.name = name
        app = make_app()
        self.app = app
        self.themes = ThemeKeeper(app, "dark")
        self.window = MainWindow(self.themes, Settings())
        self.window.resize(1440, 900)
        self.window.show()
        app.processEvents()
        self.mark("window")
        document = self.window.document
        document.labels_changed.connect(self._map_is_there)
        document.coords_changed.connect(lambda final: self._unfolded() if final else None)
        self.window.conductor.failed.connect(lambda error: sys.exit(error.sentence + error.details))
        QTimer.singleShot(0, lambda: self.window.start(None))

    def mark(self, what: str) -> None:
        self.times.setdefault(what, round(time.time() - self.started, 2))

    def save(self, name: str) -> None:
        self.app.processEvents()
        self.window.grab().save(str(PICTURES / f"{name}.png"))

    def _map_is_there(self) -> None:
        if "map" not in self.times:
            self.window.repaint()
            self.mark("map")
            if self.name != "named":
                self.save(f"{self.name}-start")

    def _unfolded(self) -> None:
        if self.window.document.projection is not None and self.window.document.projection[0] == "umap":
            self.mark("umap")
            # The rows glide to their places, and the evidence arrives.
            QTimer.singleShot(4000, self._finish)

    def _finish(self) -> None:
        if self.name == "first":
            self.save("first-start-umap")
        elif self.name == "named":
            self.name_clusters()
            self.themes_and_sizes()
            return
        self.close()

    def name_clusters(self) -> None:
        document, names = self.window.document, self.window.document.record.names
        labels = document.labels

        def cluster_of(word: str) -> int:
            return int(labels.assignment[names.index(word)])

        for word, name in NAMES.items():
            document.label(lambda s, word=word, name=name: s.rename(cluster_of(word), name))
        resisting = cluster_of(RESISTS)
        document.label(lambda s: s.resist(resisting, NOTE))
        document.set_focus(names.index("queen"))
        document.select_cluster(cluster_of("father"))
        document.label(lambda s: s.set_confidence(cluster_of("father"), 2))

    def themes_and_sizes(self) -> None:
        steps: list[Callable[[], object]] = []
        for theme in ("dark", "light"):
            for width, height in SIZES:
                steps.append(lambda t=theme, w=width, h=height: self._pose(t, w, h))
                name = f"map-{theme}" if (width, height) == (1440, 900) else f"map-{theme}-{width}x{height}"
                steps.append(lambda name=name: self.save(name))
        steps += [
            lambda: (self._pose("light", 1440, 900), self.window.commands.explain()),
            lambda: self.save("lesson-light"),
            lambda: (self.window.commands.explain(), self._pose("dark", 1440, 900), self._type("because of queens")),
            lambda: self.save("search-dark"),
            lambda: (self.window.search.leave(), self.window.commands.color_by("frequency")),
            lambda: self.save("frequency-dark"),
            lambda: (self.window.commands.color_by("cluster"), self.window.show_export_dialog()),
            *[lambda: None] * 8,  # the preview's helper imports matplotlib first
            lambda: self.window._export_dialog.grab().save(str(PICTURES / "export-dark.png")),
            self.close,
        ]
        timer = QTimer(self.window)
        timer.setInterval(1200)
        remaining = iter(steps)
        timer.timeout.connect(lambda: next(remaining)())
        timer.start()

    def _pose(self, theme: str, width: int, height: int) -> None:
        self.themes.choose(theme)
        self.window.resize(width, height)
        self.window.map_pane.canvas.fit()

    def _type(self, text: str) -> None:
        self.window.activateWindow()
        self.window.search.start()
        self.window.search.setText(text)

    def close(self) -> None:
        print(json.dumps(self.times))
        self.window.document.set_lasso(np.zeros(0, np.int64))
        self.window.close()


def main() -> None:
    """Start the program three times in a home of its own."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        for name in ("first", "second", "named"):
            environment = os.environ | {"KIRUVIZ_HOME": home, "KIRUVIZ_STARTED": str(time.time())}
            command = [sys.executable, __file__, name]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
            if done.returncode or not done.stdout:
                sys.exit(f"the {name} start failed: {done.stderr}")
            print(name, json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sitting = Sitting(sys.argv[1])
        sitting.app.exec()
    else:
        main()
