"""How well 300 clusters of the starter's whole vocabulary are told apart on the map: the smallest CIEDE2000 distances.

    .venv/bin/python benchmarks/colours.py [--clusters 300] [--umap]

"in order" gives the clusters the palette's colours in the order of their numbers; "by place" is what KiruViz does.
Neighbours are clusters whose centres share an edge of the Delaunay triangulation. "In view" are the 12 clusters nearest
to each of 50 random points: all of them are compared with each other.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import numpy.typing as npt

from kiruviz.analysis.color_difference import VISIONS, distances
from kiruviz.analysis.coloring import WANTED, cluster_centres, color_clusters, delaunay_edges
from kiruviz.palette import cluster_color
from kiruviz.progress import Silent
from kiruviz.space import Recipe, Rows
from kiruviz.tasks import maps, spaces

IN_VIEW = 12
PLACES = 50


def vocabulary(clusters: int, umap: bool) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """Coordinates and k-means clusters of every row of the starter."""
    from sklearn.cluster import KMeans

    recipe = spaces.build_space(Silent(), Recipe("smollm2", rows=Rows())).recipe
    vectors = spaces.space(recipe).vectors
    coords = maps.project(Silent(), recipe, "pca", {}).coords
    if umap:
        coords = maps.project(Silent(), recipe, "umap", {"n_epochs": 100}, coords).coords
    return coords, KMeans(clusters, n_init=1, max_iter=12, random_state=0).fit_predict(vectors).astype(np.int32)


def smallest(colors: dict[int, int], pairs: npt.NDArray[np.int64]) -> list[str]:
    """One line a ground and vision for pairs of cluster ids: the smallest distance and how many are what is wanted."""
    numbers = np.array([colors[i] for i in range(len(colors))])
    lines = []
    for ground in ("dark", "light"):
        shown = [cluster_color(int(i), ground) for i in numbers]
        for vision in VISIONS:
            found = distances(shown, vision)[pairs[:, 0], pairs[:, 1]]
            share = 100 * (found >= WANTED[vision]).mean()
            lines.append(
                f"    {ground:5s} {vision:12s} smallest {found.min():5.1f}, {share:5.1f} % of {len(found):,} pairs "
                f"at least {WANTED[vision]:g}"
            )
    return lines


def in_view(centres: npt.NDArray[np.float64], coords: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    """(m, 2) all pairs of the clusters nearest to random points."""
    rng = np.random.default_rng(0)
    pairs = []
    for x, y in coords[rng.choice(len(coords), PLACES, replace=False)]:
        near = np.hypot(centres[:, 0] - x, centres[:, 1] - y).argsort()[:IN_VIEW]
        pairs += [(int(a), int(b)) for i, a in enumerate(near) for b in near[i + 1 :]]
    return np.array(pairs, np.int64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", type=int, default=300)
    parser.add_argument("--umap", action="store_true", help="on a UMAP map instead of PCA; takes minutes")
    order = parser.parse_args()
    coords, assignment = vocabulary(order.clusters, order.umap)
    ids = np.arange(int(assignment.max()) + 1)
    began = time.perf_counter()
    by_place = color_clusters(coords, assignment, {})
    took = time.perf_counter() - began
    centres = cluster_centres(coords, assignment, ids)
    print(f"{len(ids)} clusters of {len(coords):,} rows, coloured in {took:.2f} s")
    for name, colors in (("in order", {int(i): int(i) for i in ids}), ("by place", by_place)):
        for what, pairs in (("neighbours", delaunay_edges(centres)), ("in view", in_view(centres, coords))):
            print(f"{name}, {what}:")
            print("\n".join(smallest(colors, pairs)))


if __name__ == "__main__":
    main()
