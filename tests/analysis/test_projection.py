import numpy as np
import pytest

from kiruviz.analysis.projection import PcaParams, UmapParams, default_umap_params, pca
from kiruviz.errors import UserError


def test_pca_equals_the_singular_vectors_of_the_centred_rows_up_to_sign() -> None:
    rng = np.random.default_rng(0)
    rows = (rng.standard_normal((300, 20)) * np.linspace(3, 0.1, 20) + 100).astype(np.float32)
    result = pca(rows, 3)
    wide = rows.astype(np.float64) - rows.astype(np.float64).mean(axis=0)
    left, singular, _ = np.linalg.svd(wide, full_matrices=False)
    expected = left[:, :3] * singular[:3]
    signs = np.sign((expected * result.coords).sum(axis=0))
    np.testing.assert_allclose(result.coords, expected * signs, atol=1e-4)
    np.testing.assert_allclose(result.explained, singular[:3] ** 2 / (singular**2).sum(), rtol=1e-5)
    assert result.coords.dtype == np.float32
    assert result.coords.flags.owndata


def test_pca_of_a_large_table_keeps_its_digits_beside_a_long_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = (rng.standard_normal((400, 10)) * np.linspace(2, 0.1, 10) + 50).astype(np.float32)
    expected = pca(rows).coords
    monkeypatch.setattr("kiruviz.analysis.projection._SMALL", 0)
    np.testing.assert_allclose(pca(rows).coords, expected, atol=1e-4)


def test_pca_gives_the_same_bytes_each_time() -> None:
    rows = np.random.default_rng(0).random((100, 30), np.float32)
    assert pca(rows).coords.tobytes() == pca(rows.copy()).coords.tobytes()


@pytest.mark.parametrize(
    "rows",
    [
        np.ones((1, 5)),
        np.array([[0, 0, 1.0], [0, 0, 3.0]]),
        np.full((40, 6), 0.1),
        np.zeros((40, 6)),
        np.arange(9.0).reshape(9, 1),
    ],
    ids=["one row", "two rows", "one and the same row", "zeros", "one dimension"],
)
def test_pca_of_few_or_equal_rows_is_finite(rows: np.ndarray) -> None:
    result = pca(rows)
    assert result.coords.shape == (len(rows), 2)
    assert np.isfinite(result.coords).all()
    assert np.isfinite(result.explained).all()


def test_two_rows_lie_as_far_apart_as_they_are() -> None:
    coords = pca([[0, 0, 1.0], [0, 4.0, 4.0]]).coords
    assert np.linalg.norm(coords[0] - coords[1]) == pytest.approx(5.0)


def test_pca_of_nothing_or_of_what_is_not_finite_is_refused() -> None:
    with pytest.raises(UserError, match="no rows"):
        pca(np.zeros((0, 4)))
    with pytest.raises(UserError, match="not finite"):
        pca([[1.0, np.inf], [0.0, 0.0]])
    with pytest.raises(UserError, match="components"):
        PcaParams(components=0).validate()


@pytest.mark.parametrize(("n", "neighbors"), [(2, 2), (3, 2), (20, 19), (200, 60), (49_152, 15)])
def test_the_first_parameters_fit_the_number_of_rows(n: int, neighbors: int) -> None:
    params = default_umap_params(n)
    params.validate()
    assert params.n_neighbors == neighbors
    assert params.min_dist == (0.6 if n <= 2000 else 0.1)


def test_the_number_of_epochs_is_umap_learns() -> None:
    assert [UmapParams().epochs(n) for n in (10_000, 10_001)] == [500, 200]
    assert UmapParams(n_epochs=7).epochs(5) == 7


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("n_neighbors", 1),
        ("n_neighbors", 2.5),
        ("min_dist", -0.1),
        ("min_dist", 2.0),
        ("min_dist", float("nan")),
        ("spread", 0.0),
        ("metric", "dot"),
        ("n_epochs", 0),
        ("learning_rate", 0.0),
        ("negative_sample_rate", 0),
        ("repulsion_strength", -1.0),
        ("set_op_mix_ratio", 1.1),
        ("local_connectivity", 0.5),
        ("init", "spectral"),
        ("components", 0),
        ("seed", -1),
    ],
)
def test_a_parameter_out_of_range_is_refused_by_name(field: str, value: object) -> None:
    with pytest.raises(UserError, match=field):
        UmapParams(**{field: value}).validate()  # type: ignore[arg-type]
