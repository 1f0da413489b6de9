"""“Copy as Python”: the few lines of numpy, scikit-learn or umap-learn that give the same numbers.

The tests run what is copied and compare.
"""

from __future__ import annotations

from typing import Any

from kiruviz.space import IntArray, Metric, Recipe

_MOST_IDS = 2000


def _rows(recipe: Recipe, row_ids: IntArray) -> str:
    """The lines that make X, the rows of the map."""
    lines = [
        "import numpy as np",
        "from kiruviz.models.opening import open_model",
        "",
        f"model = open_model({recipe.model!r})",
        f"E = model.table({recipe.kind!r})  # {recipe.model}, identity {recipe.identity[:12]}",
    ]
    if recipe.rows.words is not None and (row_ids < 0).any() or len(row_ids) > _MOST_IDS or recipe.transform.describe() != "raw":
        return "\n".join(
            [
                *lines,
                "from kiruviz.models.rows import make_space",
                "from kiruviz.progress import Silent",
                "from kiruviz.space import Recipe",
                f"recipe = Recipe.from_json({recipe.to_json()!r})",
                "X = make_space(model, recipe, Silent()).vectors",
            ]
        )
    return "\n".join([*lines, f"ids = {row_ids.tolist()}", "X = np.asarray(E[ids])"])


def clusters_snippet(recipe: Recipe, row_ids: IntArray, params: dict[str, Any]) -> str:
    """scikit-learn's KMeans on the same rows; `labels` are the cluster numbers."""
    k, n_init, seed = params.get("k", 8), params.get("n_init", 10), params.get("seed", 0)
    return "\n".join(
        [
            _rows(recipe, row_ids),
            "",
            "from sklearn.cluster import KMeans",
            f"labels = KMeans(n_clusters={k}, n_init={n_init}, random_state={seed}).fit_predict(X)",
            "",
        ]
    )


def map_snippet(recipe: Recipe, row_ids: IntArray, method: str, params: dict[str, Any]) -> str:
    """The projection of the same rows; `coords` are the points of the map."""
    if method == "pca":
        drawn = ["from sklearn.decomposition import PCA", "coords = PCA(n_components=2).fit_transform(X)"]
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
    """The nearest rows of the whole table; `best` are row numbers, `scores` belong to them."""
    score = {
        "cosine": "E @ q / (np.linalg.norm(E, axis=1) * np.linalg.norm(q))",
        "dot": "E @ q",
        "euclidean": "-np.linalg.norm(E - q, axis=1)  # negative: the nearest come first",
    }[metric]
    lines = [
        "import numpy as np",
        "from kiruviz.models.opening import open_model",
        "",
        f"model = open_model({recipe.model!r})",
        f"E = np.asarray(model.table({recipe.kind!r}), np.float64)",
    ]
    if recipe.transform.describe() != "raw":
        transform = recipe.transform
        lines += [
            "from kiruviz.analysis.transforms import fit",
            "from kiruviz.space import Transform",
            "keep = np.asarray(model.vocabulary().kind) != 'padding'",
            f"transform = Transform({transform.center}, {transform.remove_top}, {transform.normalize})",
            "E = fit(E.astype(np.float32), keep, transform).apply(E.astype(np.float32)).astype(np.float64)",
        ]
    lines += [
        f"q = E[{list(row_ids)}].mean(axis=0)",
        f"scores = {score}",
    ]
    if len(row_ids) == 1:
        lines.append(f"scores[{row_ids[0]}] = -np.inf  # the token itself")
    lines += [
        f"best = np.argsort(-scores, kind='stable')[:{k}]",
        "print([(model.vocabulary().text[i], float(scores[i])) for i in best])",
        "",
    ]
    return "\n".join(lines)
