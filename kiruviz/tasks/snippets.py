"""“Copy as Python”: the few lines of numpy, scikit-learn, EVoC or umap-learn that give the same numbers.

The tests run what is copied and compare.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kiruviz.analysis.grouping import AgglomerativeParams, ClusterParams, ClusterSpec, HdbscanParams, KMeansParams
from kiruviz.space import IntArray, Metric, Recipe, Transform

_MOST_IDS = 2000


def _rows(recipe: Recipe, row_ids: IntArray) -> str:
    """The lines that make X, the rows of the map."""
    lines = [
        "import numpy as np",
        "from kiruviz.models.opening import open_model",
        "",
        f"model = open_model({recipe.model!r})",
    ]
    table = f"E = model.table({recipe.kind!r})  # identity {recipe.identity[:12]}"
    one_row_each = len(row_ids) <= _MOST_IDS and not (row_ids < 0).any()
    if one_row_each and recipe.transform == Transform():
        return "\n".join([*lines, table, f"ids = {row_ids.tolist()}", "X = E[ids]"])
    # Means of several rows, transforms fitted on the whole table, long lists: the recipe says it all.
    made = [
        "from kiruviz.models.rows import make_space",
        "from kiruviz.space import Recipe",
        f"recipe = Recipe.from_json({recipe.to_json()!r})",
        "X = make_space(model, recipe).vectors",
    ]
    return "\n".join([*lines, *made])


def clusters_snippet(recipe: Recipe, row_ids: IntArray, spec: ClusterSpec) -> str:
    """The library's own clusterer on the same rows; `labels` are the cluster numbers, -1 for noise."""
    lines = [_rows(recipe, row_ids), ""]
    if spec.metric == "cosine":
        lines += [
            "# cosine: rows of unit length, then Euclidean distance; a row of zeros has no direction",
            "lengths = np.linalg.norm(X.astype(np.float64), axis=1)",
            "has_direction = lengths > 0",
            "U = (X[has_direction] / lengths[has_direction, None]).astype(np.float32)",
            *_clusterer(spec.params, "U"),
            "labels = np.full(len(X), -1)",
            "labels[has_direction] = found",
        ]
    else:
        lines += [*_clusterer(spec.params, "X"), "labels = found"]
    return "\n".join([*lines, ""])


def _clusterer(params: ClusterParams, rows: str) -> list[str]:
    """The lines that make `found` of `rows`."""
    if isinstance(params, KMeansParams):
        return [
            "from sklearn.cluster import KMeans",
            f"model = KMeans(n_clusters={params.k}, n_init={params.n_init}, random_state={params.seed})",
            f"found = model.fit_predict({rows})",
        ]
    if isinstance(params, HdbscanParams):
        given = ", ".join(f"{name}={value!r}" for name, value in asdict(params).items())
        return [
            "from sklearn.cluster import HDBSCAN",
            f'model = HDBSCAN({given}, algorithm="brute", copy=True)',
            f"found = model.fit_predict({rows})",
        ]
    if isinstance(params, AgglomerativeParams):
        k = params.k if params.distance_threshold is None else None
        return [
            "from sklearn.cluster import AgglomerativeClustering",
            f"model = AgglomerativeClustering({k}, linkage={params.linkage!r}, "
            f"distance_threshold={params.distance_threshold})",
            f"found = model.fit_predict({rows})",
        ]
    given = ", ".join(f"{name}={value!r}" for name, value in asdict(params).items() if name not in ("layer", "seed"))
    return [
        "import numba",
        "from evoc import EVoC",
        "numba.set_num_threads(1)  # the number of threads shapes EVoC's search trees",
        f"model = EVoC({given}, random_state={params.seed}).fit({rows})",
        "found = model.labels_"
        if params.layer is None
        else f"found = model.cluster_layers_[-{params.layer}]  # layer {params.layer}, 1 is the coarsest",
    ]


def map_snippet(recipe: Recipe, row_ids: IntArray, method: str, params: dict[str, Any]) -> str:
    """The projection of the same rows; `coords` are the points of the map."""
    if method == "pca":
        solver = "full" if len(row_ids) <= _MOST_IDS else "covariance_eigh"
        drawn = [
            "from sklearn.decomposition import PCA",
            f'pca = PCA(n_components=2, svd_solver={solver!r})  # the exact solver: "auto" may draw at random',
            "coords = pca.fit_transform(X.astype(np.float64))",
        ]
    else:
        drawn = [
            "from kiruviz.analysis.projection import UmapParams, pca",
            "from kiruviz.analysis.umap_layout import umap",
            "",
            "# umap-learn's graph and layout, started from PCA, on exact neighbours",
            f"params = UmapParams({', '.join(f'{name}={value!r}' for name, value in params.items())})",
            "coords = umap(X, params, pca(X).coords)",
        ]
    return "\n".join([_rows(recipe, row_ids), "", *drawn, ""])


def neighbors_snippet(recipe: Recipe, row_ids: tuple[int, ...], metric: Metric, k: int) -> str:
    """The nearest rows of the whole table; `best` are row numbers, `scores[best]` their scores."""
    lines = [
        "import numpy as np",
        "from kiruviz.models.opening import open_model",
        "",
        f"model = open_model({recipe.model!r})",
        "vocabulary = model.vocabulary()",
        f"E = model.table({recipe.kind!r})",
        "keep = vocabulary.named & np.isfinite(E).all(axis=1)  # rows that a token points to",
    ]
    if recipe.transform != Transform():
        transform = recipe.transform
        lines += [
            "from kiruviz.analysis.transforms import fit",
            "from kiruviz.space import Transform",
            f"transform = Transform({transform.center}, {transform.remove_top}, {transform.normalize})",
            "E = fit(E, keep, transform).apply(E)",
        ]
    lines += [
        "E = E.astype(np.float64)",
        f"q = E[{list(row_ids)}].mean(axis=0)",
        *_SCORES[metric],
    ]
    if len(row_ids) == 1:
        lines.append(f"keep[{row_ids[0]}] = False  # the token itself")
    sign = "" if metric == "euclidean" else "-"
    lines += [
        "rows = np.flatnonzero(keep)",
        f"best = rows[np.argsort({sign}scores[rows], kind='stable')[:{k}]]",
        "print([(vocabulary.text[i], float(scores[i])) for i in best])",
        "",
    ]
    return "\n".join(lines)


_SCORES: dict[Metric, tuple[str, ...]] = {
    "cosine": (
        "lengths = np.linalg.norm(E, axis=1)",
        "keep &= lengths > 0  # a row of zeros has no direction",
        "scores = E @ q / np.maximum(lengths * np.linalg.norm(q), 1e-300)",
    ),
    "dot": ("scores = E @ q",),
    "euclidean": ("scores = np.linalg.norm(E - q, axis=1)",),
}
