"""Writes `fixtures/v<version>.kiru`, a session of the present format with a bit of everything.

Run once a format is released (`python -m tests.session.make_fixture`), before the next migration is written;
the files of earlier formats are never made again: they must keep opening.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kiruviz.session import schema
from tests.session.helpers import filled

FOLDER = Path(__file__).parent / "fixtures"


def main() -> None:
    path = FOLDER / f"v{schema.VERSION}.kiru"
    with filled(path) as session:
        session.add_projection(1, "pca", {"seed": 0}, np.arange(24, dtype=np.float32).reshape(12, 2))
        session.rename(0, "months")
        session.set_confidence(0, 3)
        session.resist(1, "mixed")
        session.move([4, 5], 2)
        session.set_clusters(1, "kmeans", {"k": 2, "seed": 0}, [0] * 6 + [1] * 5 + [-1], {0: (0,), 1: (1,)})
        session.set_aside([0])
        session.undo()
        session.set_view("zoom", 2.5)
        session.save_view("Months", {"rect": [0, 0, 1, 1]})


if __name__ == "__main__":
    main()
