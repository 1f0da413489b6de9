"""An opened model: its card, its tables, its vocabulary; each read when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz.errors import UserError
from kiruviz.models import cache, vocabulary
from kiruviz.models.layout import Layout
from kiruviz.models.tensors import FloatArray, IntArray, TensorInfo, TensorStore, rows_as_float32
from kiruviz.models.tokenizer import Tokenizer
from kiruviz.models.vocabulary import Vocabulary
from kiruviz.progress import Progress, Silent
from kiruviz.space import Kind

_BLOCK = 8192  # rows whose lengths are taken at a time


@dataclass(frozen=True)
class Card:
    """What a person first wants to know of a model. None means the files do not say.

    `rows_without_token` counts rows of the table that no token points to; `dtype` is the input table's, in
    the file's own word; `source` is what was opened; `notes` are sentences about what was not read or not run.
    """

    name: str
    identity: str
    model_type: str | None
    vocab_size: int
    hidden_size: int
    num_layers: int | None
    num_heads: int | None
    num_kv_heads: int | None
    head_dim: int | None
    tied: bool | None
    position_scheme: str
    rope_theta: float | None
    max_positions: int | None
    dtype: str
    rows_without_token: int
    path: str
    file_bytes: int
    source: str
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The keys of `kiruviz info --json`."""
        data = asdict(self)
        del data["source"], data["notes"]
        return data


class Checkpoint:
    """A model's files, opened.

    Attributes
    ----------
    card : sizes, tying, position scheme
    config : the raw config (for a GGUF file its metadata in the words of a config.json)
    """

    def __init__(
        self,
        card: Card,
        config: dict[str, Any],
        store: TensorStore,
        layout: Layout | None,
        load_tokenizer: Callable[[], Tokenizer | None],
        load_table: Callable[[str], FloatArray],
    ) -> None:
        self.card, self.config = card, config
        self._store, self._layout = store, layout
        self._load_tokenizer, self._load_table = load_tokenizer, load_table
        self._tables: dict[str, FloatArray] = {}
        self._vocabulary: Vocabulary | None = None

    @property
    def identity(self) -> str:
        return self.card.identity

    @property
    def tensors(self) -> dict[str, TensorInfo]:
        """Every tensor of the files, by name."""
        return self._store.infos

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The embeddings this model has: an encoder without an output head has only its input table, a folder
        without weights none."""
        if self._layout is None:
            return ()
        return ("token",) if self._layout.output is None else ("token", "output")

    def tensor(self, name: str) -> FloatArray:
        """One tensor as float32, read-only: zero-copy where the file stores float32.

        Raises
        ------
        UserError : no such tensor, or one of a type that cannot be read
        """
        if name not in self._store.infos:
            raise UserError(f"{self.card.name} has no tensor named {name}; `kiruviz info` lists what it has.")
        return self._store.read(name)

    def table(self, kind: Kind = "token") -> FloatArray:
        """The input or output table, (V, d) float32, read-only; one and the same array for a tied model.

        Raises
        ------
        UserError : the model has no output table
        """
        name = self._table_name(kind)
        if name not in self._tables:
            self._tables[name] = self._load_table(name)
        return self._tables[name]

    def rows(self, kind: Kind, ids: IntArray) -> FloatArray:
        """Some rows of a table, (n, d) float32. Of a 16-bit table only these rows are read and converted.

        Raises
        ------
        UserError : the model has no output table
        """
        name = self._table_name(kind)
        if name in self._tables or self._store.infos[name].dtype not in ("F16", "BF16"):
            return self.table(kind)[ids]
        return rows_as_float32(self._store.raw(name), self._store.infos[name], Path(self.card.path), ids)

    def norms(self, kind: Kind) -> npt.NDArray[np.float64]:
        """(V,) float64: the length of each row, not finite where the row is not."""
        count = self._store.infos[self._table_name(kind)].shape[0]
        parts = [
            vocabulary.row_norms(self.rows(kind, np.arange(start, min(start + _BLOCK, count), dtype=np.int64)))
            for start in range(0, count, _BLOCK)
        ]
        return np.concatenate(parts)

    def shape(self, kind: Kind) -> tuple[int, int]:
        """Rows and columns of a table."""
        rows, size = self._store.infos[self._table_name(kind)].shape
        return rows, size

    def is_input(self, kind: Kind) -> bool:
        """Whether this kind's table is the input table, as the output table of a tied model is."""
        return self._table_name(kind) == self._table_name("token")

    def _table_name(self, kind: Kind) -> str:
        if self._layout is None:
            raise UserError(f"{self.card.path} holds no weights, so there are no rows to show; bring the whole model.")
        name = self._layout.token if kind == "token" else self._layout.output
        if name is None:
            raise UserError(
                f"{self.card.name} has no output embeddings (it is an encoder without a prediction head); "
                "choose its token embeddings."
            )
        return name

    @cached_property
    def tokenizer(self) -> Tokenizer | None:
        """The model's tokenizer, or None if there is none beside the weights."""
        return self._load_tokenizer()

    @property
    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """What the file says of each row of the input table besides its name: name -> (V,) str or float64."""
        return {}

    def vocabulary(self, progress: Progress = Silent()) -> Vocabulary:  # noqa: B008 - Silent has no state
        """Columns about every row of the input table; computed once, then kept in the cache."""
        if self._vocabulary is None and self._layout is None:
            self._vocabulary = vocabulary.make(np.zeros(0), None, progress)
        if self._vocabulary is None:
            self._vocabulary = vocabulary.cached(
                cache.model_folder(self.identity),
                lambda: vocabulary.make(self.norms("token"), self.tokenizer, progress),
            )
        return self._vocabulary
