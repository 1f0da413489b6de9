"""The real starters, as the window and the command line use them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiruviz.analysis.grouping import ClusterSpec
from kiruviz.models.rows import read_words
from kiruviz.paths import resource
from kiruviz.progress import Silent
from kiruviz.session.store import Session
from kiruviz.space import Recipe, Rows
from kiruviz.tasks import maps, spaces

EVERYDAY = tuple(read_words(resource("words", "everyday-200.txt")))


@pytest.fixture(scope="session")
def everyday() -> Recipe:
    """The recipe of the everyday words on SmolLM2, with the model's identity."""
    recipe = Recipe("smollm2", rows=Rows(words=EVERYDAY, title="everyday-200.txt"))
    return spaces.build_space(Silent(), recipe).recipe


@pytest.fixture(scope="session")
def several() -> Recipe:
    """A recipe with words of several tokens among words of one."""
    words = ("king", "queen", "San Francisco", "zebra crossing", "sunflower", "Tuesday", "seven", "antidisestablish")
    return spaces.build_space(Silent(), Recipe("smollm2", rows=Rows(words=words, title="Mixed"))).recipe


@pytest.fixture
def session_file(everyday: Recipe, tmp_path: Path) -> Path:
    """A session of the everyday words: PCA, eight clusters, one named, one that resists naming."""
    path = tmp_path / "map.kiru"
    record = spaces.build_space(Silent(), everyday)
    projected = maps.project(Silent(), everyday, "pca", {})
    grouped = maps.cluster(Silent(), everyday, ClusterSpec())
    with Session.create(path) as session:
        space_id = session.add_space(record)
        session.set_view("space_id", space_id)
        session.add_projection(space_id, projected.method, projected.params, projected.coords)
        session.set_clusters(space_id, "kmeans", {"k": 8, "n_init": 10, "seed": 0}, grouped.assignment)
        session.rename(0, 'Months, "all" twelve')
        session.set_confidence(0, 3)
        session.resist(1, "odd ones\nout")
    return path
