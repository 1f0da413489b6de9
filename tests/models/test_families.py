"""The usual families, built small by transformers itself: card and tables as transformers has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiruviz.models.opening import open_model

_SMALL = {"vocab_size": 96, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
_LLAMA = {**_SMALL, "intermediate_size": 48, "num_key_value_heads": 2, "max_position_embeddings": 64}
_BERT = {**_SMALL, "intermediate_size": 48, "max_position_embeddings": 64}

# architecture, config class, config, position scheme, positions, extra facts of the card
FAMILIES: list[tuple[str, str, dict[str, Any], str, int | None, dict[str, Any]]] = [
    ("GPT2LMHeadModel", "GPT2Config", {"vocab_size": 96, "n_embd": 32, "n_layer": 2, "n_head": 4,
     "n_positions": 64}, "learned", 64, {"num_kv_heads": 4}),
    ("LlamaForCausalLM", "LlamaConfig", _LLAMA, "rotary", 64, {"num_kv_heads": 2, "rope_theta": 1e4}),
    ("LlamaForCausalLM", "LlamaConfig", {**_LLAMA, "tie_word_embeddings": True}, "rotary", 64, {}),
    ("LlamaModel", "LlamaConfig", _LLAMA, "rotary", 64, {}),
    ("MistralForCausalLM", "MistralConfig", {**_LLAMA, "head_dim": 16}, "rotary", 64, {"head_dim": 16}),
    ("GPTNeoXForCausalLM", "GPTNeoXConfig", _BERT, "rotary", 64, {}),
    ("OPTForCausalLM", "OPTConfig", {**_SMALL, "ffn_dim": 48, "word_embed_proj_dim": 16,
     "max_position_embeddings": 64}, "learned", 64, {}),
    ("Qwen2ForCausalLM", "Qwen2Config", _LLAMA, "rotary", 64, {}),
    ("GemmaForCausalLM", "GemmaConfig", {**_LLAMA, "head_dim": 16}, "rotary", 64, {"head_dim": 16}),
    ("Gemma3ForCausalLM", "Gemma3TextConfig", {**_LLAMA, "head_dim": 16}, "rotary", 64, {"rope_theta": 1e6}),
    ("BertForMaskedLM", "BertConfig", _BERT, "learned", 64, {}),
    ("BertModel", "BertConfig", _BERT, "learned", 64, {}),
    ("RobertaForMaskedLM", "RobertaConfig", {**_BERT, "max_position_embeddings": 66}, "learned", 64, {}),
    ("DistilBertForMaskedLM", "DistilBertConfig", {"vocab_size": 96, "dim": 32, "n_layers": 2, "n_heads": 4,
     "hidden_dim": 48, "max_position_embeddings": 64}, "learned", 64, {}),
    ("AlbertForMaskedLM", "AlbertConfig", {**_BERT, "embedding_size": 16}, "learned", 64, {}),
    ("ElectraForMaskedLM", "ElectraConfig", {**_BERT, "embedding_size": 16}, "learned", 64, {}),
    ("ModernBertForMaskedLM", "ModernBertConfig", {**_BERT, "pad_token_id": 0, "cls_token_id": 1,
     "sep_token_id": 2, "bos_token_id": 1, "eos_token_id": 2}, "rotary", 64, {"rope_theta": 1.6e5}),
    ("T5ForConditionalGeneration", "T5Config", {"vocab_size": 96, "d_model": 32, "d_kv": 8, "d_ff": 48,
     "num_layers": 2, "num_heads": 4}, "relative_bias", None, {"head_dim": 8}),
    ("T5ForConditionalGeneration", "T5Config", {"vocab_size": 96, "d_model": 32, "d_kv": 8, "d_ff": 48,
     "num_layers": 2, "num_heads": 4, "tie_word_embeddings": False}, "relative_bias", None, {}),
    ("BartForConditionalGeneration", "BartConfig", {"vocab_size": 96, "d_model": 32, "encoder_layers": 2,
     "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48,
     "decoder_ffn_dim": 48, "max_position_embeddings": 64}, "learned", 64, {}),
    ("BloomForCausalLM", "BloomConfig", {"vocab_size": 96, "hidden_size": 32, "n_layer": 2, "n_head": 4},
     "alibi", None, {}),
    ("FalconForCausalLM", "FalconConfig", _SMALL, "rotary", 2048, {"num_kv_heads": 1}),
    ("MptForCausalLM", "MptConfig", {"vocab_size": 96, "d_model": 32, "n_layers": 2, "n_heads": 4}, "alibi",
     None, {}),
    ("GPTJForCausalLM", "GPTJConfig", {"vocab_size": 96, "n_embd": 32, "n_layer": 2, "n_head": 4,
     "n_positions": 64, "rotary_dim": 4}, "rotary", 64, {}),
    ("PhiForCausalLM", "PhiConfig", {**_LLAMA, "num_key_value_heads": 4}, "rotary", 64, {}),
    ("CohereForCausalLM", "CohereConfig", _LLAMA, "rotary", 64, {"rope_theta": 5e5}),
    ("Qwen3ForCausalLM", "Qwen3Config", {**_LLAMA, "head_dim": 8}, "rotary", 64, {}),
    ("Phi3ForCausalLM", "Phi3Config", _LLAMA, "rotary", 64, {}),
    ("Gemma2ForCausalLM", "Gemma2Config", {**_LLAMA, "head_dim": 16}, "rotary", 64, {"head_dim": 16}),
    ("GlmForCausalLM", "GlmConfig", {**_LLAMA, "head_dim": 8}, "rotary", 64, {}),
    ("GraniteForCausalLM", "GraniteConfig", _LLAMA, "rotary", 64, {}),
    ("SmolLM3ForCausalLM", "SmolLM3Config", _LLAMA, "rotary", 64, {}),
    ("Olmo2ForCausalLM", "Olmo2Config", _LLAMA, "rotary", 64, {}),
    ("CodeGenForCausalLM", "CodeGenConfig", {"vocab_size": 96, "n_embd": 32, "n_layer": 2, "n_head": 4,
     "n_positions": 64, "rotary_dim": 4}, "rotary", 64, {}),
    ("StableLmForCausalLM", "StableLmConfig", _LLAMA, "rotary", 64, {}),
    ("XLMRobertaForMaskedLM", "XLMRobertaConfig", {**_BERT, "max_position_embeddings": 66}, "learned", 64, {}),
    ("MPNetForMaskedLM", "MPNetConfig", {**_BERT, "max_position_embeddings": 66}, "learned", 64, {}),
    ("LlavaForConditionalGeneration", "LlavaConfig", {"text_config": {"model_type": "llama", **_LLAMA},
     "vision_config": {"model_type": "clip_vision_model", "hidden_size": 16, "intermediate_size": 16,
     "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 8, "patch_size": 4}, "image_token_index": 3},
     "rotary", 64, {"num_kv_heads": 2}),
    ("MambaForCausalLM", "MambaConfig", {"vocab_size": 96, "hidden_size": 32, "num_hidden_layers": 2,
     "state_size": 4}, "none", None, {}),
]  # fmt: skip


def _saved(architecture: str, config_class: str, config: dict[str, Any], folder: Path) -> Any:
    import torch
    import transformers

    torch.manual_seed(0)
    made = getattr(transformers, config_class)(**config, **_tokens_inside(config_class))
    model = getattr(transformers, architecture)(made)
    model.save_pretrained(folder)
    return model


def _tokens_inside(config_class: str) -> dict[str, int]:
    # Default special ids lie outside so small a vocabulary and make transformers warn.
    if config_class in ("ModernBertConfig", "T5Config", "MptConfig", "LlavaConfig"):
        return {}
    return {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize(
    ("architecture", "config_class", "config", "scheme", "positions", "extra"),
    FAMILIES,
    ids=[f"{row[0]}-{i}" for i, row in enumerate(FAMILIES)],
)
def test_card_and_tables_equal_those_of_transformers(
    tmp_path: Path,
    architecture: str,
    config_class: str,
    config: dict[str, Any],
    scheme: str,
    positions: int | None,
    extra: dict[str, Any],
) -> None:
    model = _saved(architecture, config_class, config, tmp_path)
    checkpoint = open_model(str(tmp_path))
    card = checkpoint.card

    table = model.get_input_embeddings().weight.detach().numpy()
    np.testing.assert_array_equal(checkpoint.table("token"), table)
    head = model.get_output_embeddings()
    assert checkpoint.kinds == (("token",) if head is None else ("token", "output"))
    if head is not None:
        np.testing.assert_array_equal(checkpoint.table("output"), head.weight.detach().numpy())
        assert card.tied == (head.weight is model.get_input_embeddings().weight)
        assert (checkpoint.table("output") is checkpoint.table("token")) == card.tied
    else:
        assert card.tied is None

    known = model.config.get_text_config()
    assert (card.vocab_size, card.hidden_size) == (table.shape[0], known.hidden_size)
    assert card.num_layers == known.num_hidden_layers
    assert card.num_heads == getattr(known, "num_attention_heads", None)
    assert card.model_type == model.config.model_type
    assert (card.position_scheme, card.max_positions) == (scheme, positions)
    assert {key: getattr(card, key) for key in extra} == extra
    assert card.dtype == "F32"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sixteen_bit_tables_come_out_as_the_float32_that_torch_makes_of_them(tmp_path: Path, dtype: str) -> None:
    import torch
    import transformers

    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**_LLAMA)).to(getattr(torch, dtype))
    model.save_pretrained(tmp_path)
    checkpoint = open_model(str(tmp_path))
    expected = model.get_input_embeddings().weight.detach().float().numpy()
    np.testing.assert_array_equal(checkpoint.table(), expected)
    assert checkpoint.table().dtype == np.float32
    assert checkpoint.card.dtype == {"float16": "F16", "bfloat16": "BF16"}[dtype]


def test_a_sharded_model_equals_the_whole_one(tmp_path: Path) -> None:
    import transformers

    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**_LLAMA))
    model.save_pretrained(tmp_path, max_shard_size="10KB")
    assert (tmp_path / "model.safetensors.index.json").is_file()
    checkpoint = open_model(str(tmp_path))
    np.testing.assert_array_equal(checkpoint.table(), model.get_input_embeddings().weight.detach().numpy())
    assert set(checkpoint.tensors) == set(model.state_dict())
    assert checkpoint.card.file_bytes == sum(file.stat().st_size for file in tmp_path.glob("*.safetensors"))


def test_a_multimodal_model_shows_its_language_model(tmp_path: Path) -> None:
    import transformers

    config = transformers.LlavaConfig(
        text_config={"model_type": "llama", **_LLAMA},
        vision_config={"model_type": "clip_vision_model", "hidden_size": 16, "intermediate_size": 16,
                       "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 16, "patch_size": 8},
        image_token_index=5,
    )  # fmt: skip
    model = transformers.LlavaForConditionalGeneration(config)
    model.save_pretrained(tmp_path)
    checkpoint = open_model(str(tmp_path))
    np.testing.assert_array_equal(checkpoint.table(), model.get_input_embeddings().weight.detach().numpy())
    card = checkpoint.card
    assert (card.model_type, card.hidden_size, card.num_heads, card.position_scheme) == ("llava", 32, 4, "rotary")
    assert card.tied == (model.get_output_embeddings().weight is model.get_input_embeddings().weight)


def test_a_family_that_nobody_knows_opens_by_its_tensors(tmp_path: Path) -> None:
    import json

    model = _saved("LlamaForCausalLM", "LlamaConfig", _LLAMA, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config |= {"model_type": "never-heard-of", "architectures": ["NeverHeardOfForCausalLM"]}
    (tmp_path / "config.json").write_text(json.dumps(config))
    checkpoint = open_model(str(tmp_path))
    assert checkpoint.card.model_type == "never-heard-of"
    np.testing.assert_array_equal(checkpoint.table(), model.get_input_embeddings().weight.detach().numpy())
