"""Which tensors of a checkpoint are the input and the output table, and whether they are one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kiruviz.errors import UserError
from kiruviz.models import facts
from kiruviz.models.tensors import NotFetchedError, TensorInfo, TensorStore
from kiruviz.models.vectors.table import SeveralTablesError, TableChoice

# Best first: a table shared by encoder and decoder beats the decoder's own.
_INPUT = (
    "shared.weight", "embed_tokens.weight", "wte.weight", "embed_in.weight", "word_embeddings.weight",
    "tok_embeddings.weight", "token_embedding.weight", "token_embd.weight", "tokens_embed.weight",
    "word_embedding.weight", "transformer.embeddings.weight", "backbone.embeddings.weight",
    "backbone.embedding.weight", "transformer.w.weight",
)  # fmt: skip
_OUTPUT = (
    "lm_head.weight", "embed_out.weight", "cls.predictions.decoder.weight", "lm_head.decoder.weight",
    "generator_lm_head.weight", "vocab_projector.weight", "pred_layer.proj.weight", "lm_loss.weight",
    "predictions.decoder.weight", "decoder.weight", "output.weight",
)  # fmt: skip
_HEAD_PARTS = ("cls.predictions.", "lm_head.", "vocab_transform.", "generator_predictions.", "predictions.dense")
_OTHER_SENSES = ("vision", "visual", "image", "audio", "speech", "position", "per_layer")


@dataclass(frozen=True)
class Layout:
    """Names of the tables. `output` is None without an output head; for a tied model it equals `token`."""

    token: str
    output: str | None

    @property
    def tied(self) -> bool | None:
        return None if self.output is None else self.output == self.token


def find_layout(store: TensorStore, config: facts.Config, where: Path) -> Layout:
    """Find both tables by name and shape.

    Parameters
    ----------
    store : the checkpoint's tensors
    config : its config
    where : the file or folder, for the sentences

    Raises
    ------
    UserError : no table, or one whose shape contradicts the config; SeveralTablesError where none of several
        tensors is recognised
    """
    token = _input_table(store.infos, config, where)
    _check_shape(store.infos[token], config, where)
    output = _output_table(store.infos, token)
    if output is not None and _same_bytes(store, token, output):
        output = token
    if output is None and facts.ties(config) and _predicts(store.infos, config):
        output = token
    return Layout(token, output)


def _input_table(infos: Mapping[str, TensorInfo], config: facts.Config, where: Path) -> str:
    tables = [info for info in infos.values() if len(info.shape) == 2 and not _other_sense(info.name)]
    rows = facts.vocab_size(config)
    named = [
        (info.shape[0] != rows, place, len(info.name), info.name)
        for info in tables
        for place, suffix in enumerate(_INPUT)
        if _ends(info.name, suffix)
    ]
    if named:
        # Several towers may use one name: what has the config's size first, then the usual and outermost name.
        return min(named)[-1]
    shaped = [
        info.name
        for info in tables
        if info.shape[0] == rows and info.shape[1] in facts.table_widths(config) and not _is_output(info.name)
    ]
    if len(shaped) == 1:
        return shaped[0]
    if len(tables) == 1 and not config:
        return tables[0].name
    if not tables:
        raise UserError(
            f"{where}: no tensor has two dimensions, as a table has; bring the file that holds the input embeddings."
        )
    # A vocabulary has many more rows than a row has numbers.
    tables.sort(key=lambda info: (-(info.shape[0] / max(info.shape[1], 1)), info.name))
    raise SeveralTablesError(where, tuple(TableChoice(i.name, i.shape, i.dtype) for i in tables))


def _other_sense(name: str) -> bool:
    return any(word in name for word in _OTHER_SENSES)


def _is_output(name: str) -> bool:
    return any(_ends(name, suffix) for suffix in _OUTPUT)


def _ends(name: str, suffix: str) -> bool:
    return name == suffix or name.endswith("." + suffix)


def _check_shape(info: TensorInfo, config: facts.Config, where: Path) -> None:
    rows, widths = facts.vocab_size(config), facts.table_widths(config)
    if rows is not None and rows != info.shape[0]:
        expected = f"vocab_size {rows}"
    elif widths and info.shape[1] not in widths:
        expected = f"hidden size {min(widths)}"
    elif 0 in info.shape:
        expected = "at least one row and one column"
    else:
        return
    raise UserError(
        f"{where}: tensor {info.name} is {info.shape[0]} x {info.shape[1]}, but its configuration says "
        f"{expected}; bring the configuration that belongs to these weights."
    )


def _output_table(infos: Mapping[str, TensorInfo], token: str) -> str | None:
    """A stored output table: named as one, with a row for each row of the input table."""
    rows = infos[token].shape[0]
    for suffix in _OUTPUT:
        for name, info in infos.items():
            if _ends(name, suffix) and name != token and len(info.shape) == 2 and info.shape[0] == rows:
                return name
    return None


def _predicts(infos: Mapping[str, TensorInfo], config: facts.Config) -> bool:
    """Whether the checkpoint has an output head although no output table is stored."""
    return facts.has_head(config) or any(name.startswith(_HEAD_PARTS) for name in infos)


def _same_bytes(store: TensorStore, token: str, output: str) -> bool:
    """Some checkpoints store a tied table twice: the weights say it, whatever the config says."""
    first, second = store.infos[token], store.infos[output]
    if (first.shape, first.dtype) != (second.shape, second.dtype):
        return False
    try:
        a, b = store.raw(token), store.raw(output)
    except NotFetchedError:  # where only the table was fetched, the two were seen to differ then
        return False
    # Most untied tables differ at once; a slice spares reading gigabytes to find out.
    return a[: 1 << 16] == b[: 1 << 16] and a == b
