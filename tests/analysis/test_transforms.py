import warnings

import numpy as np
import pytest
from sklearn.decomposition import PCA

from kiruviz.analysis import transforms
from kiruviz.errors import UserError
from kiruviz.space import Transform


@pytest.fixture
def table() -> np.ndarray:
    rng = np.random.default_rng(0)
    return (rng.standard_normal((500, 12)) * np.arange(1, 13) + 30).astype(np.float32)


def everything(table: np.ndarray) -> np.ndarray:
    return np.ones(len(table), dtype=bool)


def test_raw_rows_come_back_as_a_copy(table: np.ndarray) -> None:
    out = transforms.fit(table, everything(table), Transform()).apply(table)
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out, table)
    assert not np.shares_memory(out, table)


def test_centring_uses_the_kept_rows_of_the_whole_table(table: np.ndarray) -> None:
    keep = everything(table)
    keep[100:] = False
    fitted = transforms.fit(table, keep, Transform(center=True))
    expected = table[:5] - table[:100].astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(fitted.apply(table[:5]), expected, atol=1e-5)


@pytest.mark.parametrize("top", [1, 3])
def test_all_but_the_top_equals_the_remainder_of_sklearns_pca(table: np.ndarray, top: int) -> None:
    out = transforms.fit(table, everything(table), Transform(remove_top=top)).apply(table)
    wide = table.astype(np.float64)
    model = PCA(n_components=top).fit(wide)
    expected = wide - model.inverse_transform(model.transform(wide))
    np.testing.assert_allclose(out, expected, atol=1e-4)


def test_the_blocks_of_a_long_table_add_up(monkeypatch: pytest.MonkeyPatch, table: np.ndarray) -> None:
    whole = transforms.fit(table, everything(table), Transform(remove_top=2, normalize=True)).apply(table)
    monkeypatch.setattr(transforms, "_BLOCK_VALUES", 100)
    blocks = transforms.fit(table, everything(table), Transform(remove_top=2, normalize=True)).apply(table)
    np.testing.assert_allclose(blocks, whole, atol=1e-6)


def test_unit_length_leaves_zero_rows_at_zero() -> None:
    table = np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)
    out = transforms.fit(table, everything(table), Transform(normalize=True)).apply(table)
    np.testing.assert_allclose(out, [[0.6, 0.8], [0.0, 0.0]], atol=1e-7)


def test_an_all_zero_table_stays_zero() -> None:
    table = np.zeros((6, 4), dtype=np.float32)
    out = transforms.fit(table, everything(table), Transform(True, 2, True)).apply(table)
    np.testing.assert_array_equal(out, table)


def test_rows_that_are_not_finite_pass_without_touching_the_others(table: np.ndarray) -> None:
    table[7] = np.nan
    table[8, 0] = np.inf
    keep = np.isfinite(table).all(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = transforms.fit(table, keep, Transform(True, 1, True)).apply(table)
    assert np.isfinite(out[keep]).all()


@pytest.mark.parametrize("top", [-1, 12, 13])
def test_a_number_of_directions_that_makes_no_sense_is_refused(table: np.ndarray, top: int) -> None:
    with pytest.raises(UserError, match="between 0 and 11"):
        transforms.fit(table, everything(table), Transform(remove_top=top))


def test_centring_nothing_is_refused(table: np.ndarray) -> None:
    with pytest.raises(UserError, match="at least one usable row"):
        transforms.fit(table, ~everything(table), Transform(center=True))
