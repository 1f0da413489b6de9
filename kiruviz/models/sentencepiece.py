"""A SentencePiece `.model` said as a tokenizer.json, without the sentencepiece package.

Source: sentencepiece_model.proto of https://github.com/google/sentencepiece; how Hugging Face's converters map it.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kiruviz.errors import UserError
from kiruviz.models.tokenizer_json import as_json, byte_bpe_model

_UNKNOWN, _CONTROL, _USER, _UNUSED, _BYTE = 2, 3, 4, 5, 6
_UNIGRAM, _BPE = 1, 2
# fairseq's models (XLM-R, CamemBERT, mBART) keep four rows of their own before the pieces.
_FAIRSEQ = "sentencepiece.bpe.model"
FILES = ("tokenizer.model", "spiece.model", _FAIRSEQ, "spm.model")
_MOST_PIECES = 4_000_000
_SQUEEZE: dict[str, Any] = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}


@dataclass
class _Model:
    pieces: list[tuple[str, float, int]] = field(default_factory=list)
    kind: int = _UNIGRAM
    charsmap: bytes = b""
    prefix: bool = True
    squeezes: bool = True


def read(path: Path, data: bytes) -> bytes:
    """The tokenizer.json of a SentencePiece model (Unigram or BPE).

    Raises
    ------
    UserError : no such model, or of another kind
    """
    try:
        model = _parse(data)
    except (ValueError, IndexError, struct.error) as error:
        raise UserError(f"{path} is damaged or no SentencePiece model; fetch it again.") from error
    if not model.pieces or model.kind not in (_UNIGRAM, _BPE):
        raise UserError(f"{path} holds no Unigram or BPE pieces; bring the model's tokenizer.json.")
    fairseq = path.name == _FAIRSEQ
    rows = _fairseq(model.pieces) if fairseq else list(model.pieces)
    added = [(i, text, kind != _USER) for i, (text, _, kind) in enumerate(rows) if kind in (_UNKNOWN, _CONTROL, _USER)]
    unknown = next((i for i, (_, _, kind) in enumerate(rows) if kind == _UNKNOWN), 0)
    if model.kind == _BPE:
        vocab = {text: i for i, (text, _, _) in reversed(list(enumerate(rows)))}
        scores = [score for _, score, _ in rows]
        return bpe(vocab, added, scores, model.prefix, rows[unknown][0], model.squeezes)
    bytes_there = any(kind == _BYTE for _, _, kind in rows)
    steps: list[dict[str, Any]] = []
    if model.charsmap:
        steps.append({"type": "Precompiled", "precompiled_charsmap": base64.b64encode(model.charsmap).decode()})
    if model.squeezes:
        steps.append(_SQUEEZE)
    space = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always" if model.prefix else "never",
             "split": True}  # fmt: skip
    return as_json(
        {"type": "Unigram", "unk_id": unknown, "vocab": [[text, score] for text, score, _ in rows],
         "byte_fallback": bytes_there},
        added, space, space, {"type": "Sequence", "normalizers": steps} if steps else None,
    )  # fmt: skip


def bpe(
    vocab: dict[str, int],
    added: Sequence[tuple[int, str, bool]],
    scores: Sequence[float],
    prefix: bool,
    unknown: str,
    squeezes: bool = False,
) -> bytes:
    """The tokenizer.json of SentencePiece BPE, its merges rebuilt from the scores: of all ways to cut a piece in two
    known ones, best piece first.

    Parameters
    ----------
    vocab : piece -> row
    added : (row, text, special) of each token that is no piece
    scores : of each row
    prefix : whether a text gets a space before it
    unknown : the piece for what cannot be written, where there is no `<unk>`
    squeezes : whether spaces at the ends of a text are dropped and several become one
    """
    unknown = "<unk>" if "<unk>" in vocab else unknown
    merges = []
    for piece, row in vocab.items():
        for cut in range(1, len(piece)):
            left, right = piece[:cut], piece[cut:]
            if left in vocab and right in vocab:
                merges.append((-float(scores[row]), vocab[left], vocab[right], [left, right]))
    merges.sort(key=lambda merge: merge[:3])
    pairs: list[Any] = [merge[3] for merge in merges]
    space: list[dict[str, Any]] = [{"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]
    first: list[dict[str, Any]] = []
    if squeezes:
        first = [{"type": "Strip", "strip_left": True, "strip_right": True}, _SQUEEZE]
    if prefix:
        first.append({"type": "Prepend", "prepend": "▁"})
    return as_json(
        byte_bpe_model(vocab, pairs, unk_token=unknown, fuse_unk=True, byte_fallback=True),
        added,
        None,
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "Sequence", "normalizers": [*first, *space]},
    )


def _fairseq(pieces: list[tuple[str, float, int]]) -> list[tuple[str, float, int]]:
    own = [("<s>", 0.0, _CONTROL), ("<pad>", 0.0, _CONTROL), ("</s>", 0.0, _CONTROL), ("<unk>", 0.0, _UNKNOWN)]
    return [*own, *pieces[3:], ("<mask>", 0.0, _CONTROL)]


def _parse(data: bytes) -> _Model:
    model = _Model()
    for number, value in _fields(data):
        if number == 1 and isinstance(value, bytes):
            model.pieces.append(_piece(value))
            if len(model.pieces) > _MOST_PIECES:
                raise ValueError("too many pieces")
        elif number == 2 and isinstance(value, bytes):
            for inner, found in _fields(value):
                if inner == 3 and isinstance(found, int):
                    model.kind = found
        elif number == 3 and isinstance(value, bytes):
            for inner, found in _fields(value):
                if inner == 2 and isinstance(found, bytes):
                    model.charsmap = found
                elif inner == 3:
                    model.prefix = bool(found)
                elif inner == 4:
                    model.squeezes = bool(found)
    return model


def _piece(data: bytes) -> tuple[str, float, int]:
    text, score, kind = "", 0.0, 1
    for number, value in _fields(data):
        if number == 1 and isinstance(value, bytes):
            text = value.decode("utf-8")
        elif number == 2 and isinstance(value, bytes):
            score = float(struct.unpack("<f", value)[0])
        elif number == 3 and isinstance(value, int):
            kind = value
    return text, score, kind


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(field number, value) of a protocol buffer's message; fixed numbers come as their bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if wire not in (1, 2, 5):
            raise ValueError("not a message")
        size, at = _varint(data, at) if wire == 2 else ({1: 8, 5: 4}[wire], at)
        if at + size > len(data):
            raise ValueError("cut off")
        yield key >> 3, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        shift += 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError("not a number")
