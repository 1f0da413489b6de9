"""A GGUF file's metadata said in the words of config.json and tokenizer.json."""

from __future__ import annotations

from typing import Any

import numpy as np

from kiruviz.models import families, sentencepiece
from kiruviz.models.gguf_file import GgufFile
from kiruviz.models.tokenizer_json import as_json, byte_bpe_model

_LLAMA3_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_SPLITS = {
    "llama-bpe": _LLAMA3_SPLIT,
    "llama3": _LLAMA3_SPLIT,
    "qwen2": _LLAMA3_SPLIT.replace("{1,3}", ""),
}
_SINGLE_DIGITS = ("smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b")

# tokenizer.ggml.token_type
_UNKNOWN, _CONTROL, _USER, _UNUSED = 2, 3, 4, 5


def config_of(file: GgufFile) -> dict[str, Any]:
    """The keys of a config.json that the metadata gives, absent ones left out."""
    meta = file.metadata
    family = str(meta.get("general.architecture", ""))

    def of(key: str) -> Any:
        return _number(meta.get(f"{family}.{key}"))

    table = file.infos.get("token_embd.weight")
    config = {
        "model_type": families.GGUF_TYPES.get(family, family) or None,
        "vocab_size": table.shape[0] if table and table.shape else None,
        "hidden_size": of("embedding_length"),
        "intermediate_size": of("feed_forward_length"),
        "num_hidden_layers": of("block_count"),
        "num_attention_heads": of("attention.head_count"),
        "num_key_value_heads": of("attention.head_count_kv"),
        "head_dim": of("attention.key_length"),
        "max_position_embeddings": of("context_length"),
        "rope_theta": of("rope.freq_base"),
        "rotary_dim": of("rope.dimension_count"),
        "rope_scaling": _scaling(of("rope.scaling.factor"), meta.get(f"{family}.rope.scaling.type")),
        "rms_norm_eps": of("attention.layer_norm_rms_epsilon"),
        "bos_token_id": _number(meta.get("tokenizer.ggml.bos_token_id")),
        "eos_token_id": _number(meta.get("tokenizer.ggml.eos_token_id")),
        # llama.cpp leaves the output table out exactly when it is the input table.
        "tie_word_embeddings": "output.weight" not in file.infos,
        "architectures": None if family in ("bert", "nomic-bert", "t5encoder") else [f"{family}ForCausalLM"],
    }
    return {key: value for key, value in config.items() if value is not None}


def _number(value: Any) -> Any:
    """A number; of a list with one entry per layer the largest."""
    if isinstance(value, np.ndarray):
        return value.max().item() if value.size else None
    return value if isinstance(value, int | float) else None


def _scaling(factor: Any, kind: Any) -> dict[str, Any] | None:
    return {"rope_type": kind, "factor": factor} if isinstance(kind, str) and kind != "none" else None


def tokenizer_json(file: GgufFile) -> bytes | None:
    """The vocabulary as a tokenizer.json: byte-level BPE (`gpt2`) or SentencePiece BPE (`llama`).

    Returns
    -------
    None for another kind of tokenizer, or a vocabulary without merges
    """
    tokens, kinds = file.strings("tokenizer.ggml.tokens"), file.metadata.get("tokenizer.ggml.token_type")
    if not tokens:
        return None
    types = kinds.tolist() if isinstance(kinds, np.ndarray) and len(kinds) == len(tokens) else [1] * len(tokens)
    # Converters fill a table's spare rows with made-up tokens: they are rows without a token.
    named = {
        token: row
        for row, (token, kind) in enumerate(zip(tokens, types, strict=True))
        if not (kind == _UNUSED and token == f"[PAD{row}]")
    }
    added = [
        (row, token, types[row] != _USER) for token, row in named.items() if types[row] in (_UNKNOWN, _CONTROL, _USER)
    ]
    model = file.metadata.get("tokenizer.ggml.model")
    merges = file.strings("tokenizer.ggml.merges")
    if model == "gpt2" and merges is not None:
        return _byte_level(named, added, merges, str(file.metadata.get("tokenizer.ggml.pre", "")))
    scores = file.metadata.get("tokenizer.ggml.scores")
    if model == "llama" and isinstance(scores, np.ndarray) and len(scores) == len(tokens):
        prefix = file.metadata.get("tokenizer.ggml.add_space_prefix", True)
        return sentencepiece.bpe(named, added, scores.tolist(), bool(prefix), tokens[0])
    return None


def _byte_level(vocab: dict[str, int], added: list[tuple[int, str, bool]], merges: list[str], pre: str) -> bytes:
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    steps: list[dict[str, Any]] = [level]
    if pre in _SINGLE_DIGITS:
        steps = [{"type": "Digits", "individual_digits": True}, level]
    elif pre in _SPLITS:
        split = {"type": "Split", "pattern": {"Regex": _SPLITS[pre]}, "behavior": "Isolated", "invert": False}
        steps = [split, {**level, "use_regex": False}]
    whole = pre in ("llama-bpe", "llama3")
    # A merge of tokens the vocabulary lacks would make the library refuse the whole file.
    usable = [merge for merge in merges if _joined(merge) in vocab]
    return as_json(
        byte_bpe_model(vocab, usable, ignore_merges=whole),
        added,
        {"type": "Sequence", "pretokenizers": steps},
        {**level, "add_prefix_space": True},
    )


def _joined(merge: str) -> str:
    return merge.replace(" ", "", 1)
