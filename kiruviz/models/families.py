"""What a model family does where its config.json is silent.

Read from the configuration classes of transformers 5.24; a test compares the families it builds.
"""

from __future__ import annotations


def _names(text: str) -> list[str]:
    return text.split()


# Families whose configuration class does not tie the output to the input when the key is missing.
UNTIED = frozenset(
    _names(
        """arcee bitnet codegen cwm dbrx deepseek_v2 deepseek_v3 diffllama doge exaone exaone4 falcon_h1 glm glm4
    glm4_moe gpt_neox gpt_oss gptj granite granitemoe helium hunyuan_v1_dense idefics2 idefics3 jamba llama
    llama4 llama4_text llava llava_next llava_onevision mamba2 minimax ministral mistral mixtral
    mllama_text_model nemotron olmo olmo2 olmo3 olmoe persimmon phi phi3 phimoe qwen2 qwen2_5_vl qwen2_moe
    qwen2_vl qwen3 qwen3_moe qwen3_next qwen3_vl reformer rembert rwkv seed_oss smolvlm stablelm"""
    )
)

# Position scheme by family, for those whose config.json need not say it.
SCHEMES: dict[str, str] = {
    **dict.fromkeys(
        _names(
            """albert bart bert bigbird_pegasus big_bird biogpt blenderbot camembert clip clip_text_model convbert
        data2vec-text electra flaubert xlm mpnet ernie gpt2 gpt_bigcode gpt_neo imagegpt layoutlm led longformer mbart
        mobilebert mvp nystromformer openai-gpt opt plbart qdqbert rembert roberta roberta-prelayernorm
        squeezebert splinter whisper xlm-roberta xlm-roberta-xl xmod yoso distilbert"""
        ),
        "learned",
    ),
    **dict.fromkeys(_names("m2m_100 nllb-moe marian pegasus pegasus_x xglm ctrl fsmt"), "sinusoidal"),
    **dict.fromkeys(_names("bloom mpt"), "alibi"),
    **dict.fromkeys(
        _names("t5 mt5 umt5 longt5 switch_transformers udop pop2piano deberta deberta-v2 xlnet"), "relative_bias"
    ),
    **dict.fromkeys(_names("mamba mamba2 falcon_mamba rwkv jamba xlstm"), "none"),
    **dict.fromkeys(
        _names(
            """llama mistral mixtral qwen2 qwen2_moe qwen3 qwen3_moe gemma gemma2 gemma3 gemma3_text gpt_neox gptj
        codegen phi phi3 phimoe cohere cohere2 olmo olmo2 olmo3 olmoe stablelm starcoder2 granite granitemoe
        glm glm4 deepseek_v2 deepseek_v3 llama4 llama4_text smollm3 nemotron persimmon modernbert falcon
        exaone4 gpt_oss bamba helium internlm3 minimax esm nomic_bert"""
        ),
        "rotary",
    ),
}

# Learned tables of these families keep padding_idx + 1 rows in front that are no positions.
PADDED_POSITIONS = frozenset(
    _names(
        """camembert data2vec-text ibert longformer mpnet roberta roberta-prelayernorm xlm-roberta xlm-roberta-xl
    xmod"""
    )
)

# Rotary base where config.json names none and the class default is not 1e4.
THETA: dict[str, float] = {
    "apertus": 12e6, "bitnet": 5e5, "cohere": 5e5, "cwm": 1e6, "exaone": 5e5, "flex_olmo": 5e5, "gemma3": 1e6,
    "gemma3_text": 1e6, "gpt_oss": 1.5e5, "helium": 1e5, "lfm2": 1e6, "llama4": 5e5, "llama4_text": 5e5,
    "minimax": 1e6, "ministral3": 1e6, "mixtral": 1e6, "modernbert": 1.6e5, "nomic_bert": 1e3, "olmo3": 5e5,
    "phimoe": 1e6, "qwen2_5_vl": 1e6, "qwen2_vl": 1e6, "qwen3_vl": 5e5, "smollm3": 2e6,
}  # fmt: skip
DEFAULT_THETA = 1e4

# Names llama.cpp gives to families that transformers spells otherwise.
GGUF_TYPES: dict[str, str] = {
    "command-r": "cohere",
    "deepseek2": "deepseek_v2",
    "falcon": "falcon",
    "gemma3": "gemma3_text",
    "nomic-bert": "nomic_bert",
    "qwen2vl": "qwen2_vl",
    "gptneox": "gpt_neox",
    "phi2": "phi",
    "qwen2moe": "qwen2_moe",
    "qwen3moe": "qwen3_moe",
    "gpt-oss": "gpt_oss",
    "starcoder": "gpt_bigcode",
}
