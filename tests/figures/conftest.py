"""Pictures to draw: seeded maps of any size, with names, a cluster that resists, noise and awkward tokens."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kiruviz.figures.spec import ClusterMark, MapPicture

RECIPE = {
    "model": "SmolLM2-135M-Instruct",
    "identity": "b179c9523d0e",
    "space": "input embedding",
    "metric": "cosine",
    "method": "UMAP",
    "parameters": "n_neighbors 60 (of 200), path C:\\models",
    "seed": "0",
    "versions": "umap-learn 0.5.9, naïve “quotes” & <tags>",
}
STATUSES = ("named", "named", "resists", "unnamed")


def make(n: int, seed: int = 0, clusters: int = 8, **changes: object) -> MapPicture:
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, 4, (clusters, 2))
    assignment = rng.permutation(np.arange(n) % (clusters + 1) - 1).astype(np.int32)
    coords = (centres[assignment] + rng.normal(0, 1, (n, 2))).astype(np.float32)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    names = tuple("".join(rng.choice(letters, rng.integers(2, 12))) for _ in range(n))
    marks = tuple(
        ClusterMark(i, f"name of {i}" if STATUSES[i % 4] == "named" else "", STATUSES[i % 4], i)
        for i in range(clusters)
    )
    values = {"names": names, "clusters": marks, "recipe_lines": RECIPE, "title": "A map", **changes}
    return MapPicture(coords=coords, assignment=assignment, **values)


@pytest.fixture
def picture() -> Callable[..., MapPicture]:
    return make
