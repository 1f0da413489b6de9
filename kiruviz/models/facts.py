"""What a config says: sizes, position scheme, tying; under whatever key its family writes it.

The config.json is read here and not through `transformers.AutoConfig`, whose import takes seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kiruviz.models import families

Config = Mapping[str, Any]

_TEXT_KEYS = ("text_config", "llm_config", "language_config", "thinker_config")
_ROTARY_KEYS = ("rope_parameters", "rope_theta", "rotary_pct", "rotary_dim", "rotary_emb_base")
# `position_embedding_type`, where a family offers several.
_DECLARED = {
    "absolute": "learned",
    "learned_absolute": "learned",
    "rotary": "rotary",
    "rope": "rotary",
    "alibi": "alibi",
    "relative_key": "relative_bias",
    "relative_key_query": "relative_bias",
}
_LAYER_TYPES = ("full_attention", "sliding_attention")


def text_config(config: Config) -> Config:
    """The part of a multimodal config that describes the language model; else the config itself."""
    for key in _TEXT_KEYS:
        part = config.get(key)
        if isinstance(part, Mapping) and part:
            return text_config(part)
    return config


def number(config: Config, *keys: str) -> int | None:
    """The first of `keys` that holds a whole number (true and false are none)."""
    for key in keys:
        value = config.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def model_type(config: Config) -> str | None:
    """The family's name: of the text part where it has one."""
    for part in (text_config(config), config):
        if isinstance(part.get("model_type"), str):
            return str(part["model_type"])
    return None


def declared_type(config: Config) -> str | None:
    """The model's own type, as its config declares it: of a multimodal model not that of its text part."""
    declared = config.get("model_type")
    return declared if isinstance(declared, str) else model_type(config)


def hidden_size(config: Config) -> int | None:
    return number(text_config(config), "hidden_size", "n_embd", "d_model", "dim", "emb_dim")


def table_widths(config: Config) -> set[int]:
    """The widths an input table may have: factorised families have one of their own."""
    keys = ("word_embed_proj_dim", "embedding_size")
    found = {number(text_config(config), key) for key in keys} | {hidden_size(config)}
    return {width for width in found if width is not None}


def vocab_size(config: Config) -> int | None:
    return number(text_config(config), "vocab_size", "n_vocab")


def num_layers(config: Config) -> int | None:
    return number(text_config(config), "num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers")


def num_heads(config: Config) -> int | None:
    return number(
        text_config(config), "num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"
    )


def num_kv_heads(config: Config) -> int | None:
    """Heads of keys and values; without grouped queries as many as heads."""
    text = text_config(config)
    if text.get("multi_query") is True and not text.get("new_decoder_architecture"):
        return 1
    return number(text, "num_key_value_heads", "num_kv_heads", "n_head_kv") or num_heads(config)


def head_dim(config: Config) -> int | None:
    """The config's own head size where it has one: it need not be hidden size / heads (Gemma, Mistral-Nemo)."""
    own = number(text_config(config), "head_dim", "d_kv", "kv_channels")
    hidden, heads = hidden_size(config), num_heads(config)
    if own is not None or not hidden or not heads:
        return own
    return hidden // heads


def rope_theta(config: Config) -> float | None:
    """The base of the rotary frequencies (of the global layers, where layer types differ)."""
    text = text_config(config)
    places: list[Config] = [text]
    for key in ("rope_parameters", "rope_scaling"):
        part = text.get(key)
        if isinstance(part, Mapping):
            nested = (part[name] for name in _LAYER_TYPES if isinstance(part.get(name), Mapping))
            places = [*nested, part, *places]
    for place in places:
        for key in ("rope_theta", "rotary_emb_base", "global_rope_theta"):
            value = place.get(key)
            if isinstance(value, int | float) and not isinstance(value, bool):
                return float(value)
    return families.THETA.get(model_type(config) or "", families.DEFAULT_THETA)


def position_scheme(config: Config, tensor_names: Iterable[str]) -> str:
    """How the model knows order: what its config says, then its family, then its tensors.

    Returns
    -------
    one of rotary, learned, sinusoidal, alibi, relative_bias, none
    """
    text, family = text_config(config), model_type(config) or ""
    declared = _declared_scheme(text)
    if declared:
        return declared
    if family in families.SCHEMES:
        return families.SCHEMES[family]
    if any(text.get(key) for key in _ROTARY_KEYS):
        return "rotary"
    if number(text, "relative_attention_num_buckets"):
        return "relative_bias"
    return _scheme_of_tensors(tensor_names)


def _declared_scheme(text: Config) -> str:
    """The scheme a config names outright, or nothing."""
    attention = text.get("attn_config")
    if text.get("alibi") is True or (isinstance(attention, Mapping) and attention.get("alibi") is True):
        return "alibi"
    if isinstance(attention, Mapping) and attention.get("alibi") is False:
        return "rotary" if attention.get("rope") is True else "learned"
    if text.get("sinusoidal_pos_embds") is True or text.get("sinusoidal_embeddings") is True:
        return "sinusoidal"
    return _DECLARED.get(str(text.get("position_embedding_type")), "")


def _scheme_of_tensors(names: Iterable[str]) -> str:
    learned = ("wpe.weight", "position_embeddings.weight", "embed_positions.weight", "position_embd.weight")
    for name in names:
        if name.endswith(learned):
            return "learned"
        if "relative_attention_bias" in name:
            return "relative_bias"
        if name.endswith(("rotary_emb.inv_freq", "rope_freqs.weight")):
            return "rotary"
    return "none"


def max_positions(config: Config, scheme: str) -> int | None:
    """The number of positions the model was made for; None where the scheme has no such number."""
    if scheme in ("relative_bias", "alibi", "none"):
        return None
    text = text_config(config)
    declared = number(text, "max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length")
    if declared is not None and model_type(config) in families.PADDED_POSITIONS:
        padding = number(text, "pad_token_id")
        return declared - (1 if padding is None else padding) - 1
    return declared


def ties(config: Config) -> bool:
    """Whether the config ties the output table to the input table; the flag may sit in the text part."""
    for part in (text_config(config), config):
        value = part.get("tie_word_embeddings")
        if isinstance(value, bool):
            return value
    return (model_type(config) or "") not in families.UNTIED


def has_head(config: Config) -> bool:
    """Whether the named architecture predicts tokens (a bare encoder or backbone does not)."""
    named = config.get("architectures")
    names = [str(name) for name in named] if isinstance(named, list) else []
    heads = ("LMHeadModel", "ForCausalLM", "ForMaskedLM", "ForConditionalGeneration", "ForPreTraining")
    return any(name.endswith(heads) or "LMHead" in name for name in names)
