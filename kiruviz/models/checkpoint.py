"""An opened model: its card, its tables, its vocabulary; each read when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from kiruviz.errors import UserError
from kiruviz.models import cache, vocabulary
from kiruviz.models.layout import Layout
from kiruviz.models.tensors import FloatArray, TensorInfo, TensorStore
from kiruviz.models.tokenizer import Tokenizer
from kiruviz.models.vocabulary import Vocabulary
from kiruviz.progress import Progress, Silent
from kiruviz.space import Kind


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
        layout: Layout,
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
        """The embeddings this model has: an encoder without an output head has only its input table."""
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
        name = self._layout.token if kind == "token" else self._layout.output
        if name is None:
            raise UserError(
                f"{self.card.name} has no output embeddings (it is an encoder without a prediction head); "
                "choose its token embeddings."
            )
        if name not in self._tables:
            self._tables[name] = self._load_table(name)
        return self._tables[name]

    @cached_property
    def tokenizer(self) -> Tokenizer | None:
        """The model's tokenizer, or None if there is none beside the weights."""
        return self._load_tokenizer()

    def vocabulary(self, progress: Progress = Silent()) -> Vocabulary:  # noqa: B008 - Silent has no state
        """Columns about every row of the input table; computed once, then kept in the cache."""
        if self._vocabulary is None:
            self._vocabulary = vocabulary.cached(
                cache.model_folder(self.identity),
                lambda: vocabulary.make(self.table("token"), self.tokenizer, progress),
            )
        return self._vocabulary
