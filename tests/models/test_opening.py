from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from kiruviz.errors import UserError
from kiruviz.models.checkpoint import Checkpoint
from kiruviz.models.opening import open_model
from kiruviz.models.vectors.table import SeveralTablesError

TABLE = "embeddings.word_embeddings.weight"
_KEYS = st.sampled_from(
    ["model_type", "architectures", "vocab_size", "hidden_size", "num_attention_heads", "head_dim", "text_config",
     "rope_parameters", "rope_theta", "rope_scaling", "tie_word_embeddings", "pad_token_id", "alibi",
     "attn_config", "position_embedding_type", "max_position_embeddings", "full_attention", "multi_query"]
)  # fmt: skip

MakeModel = Callable[..., Path]


def rows(count: int = 18, width: int = 4) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(1).normal(size=(count, width)).astype(np.float32)


def sentence(ref: str | Path) -> str:
    """The one sentence with which opening fails."""
    with pytest.raises(UserError) as caught:
        open_model(str(ref))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_card_of_the_first_starter(smollm2: Checkpoint) -> None:
    info = smollm2.card.to_json()
    assert len(info.pop("identity")) == 64
    assert info.pop("path").endswith("SmolLM2-135M-Instruct.Q4_1.gguf")
    assert info == {
        "name": "SmolLM2-135M-Instruct", "model_type": "llama", "vocab_size": 49152, "hidden_size": 576,
        "num_layers": 30, "num_heads": 9, "num_kv_heads": 3, "head_dim": 64, "tied": True,
        "position_scheme": "rotary", "rope_theta": 100000.0, "max_positions": 8192, "dtype": "Q8_0",
        "rows_without_token": 0, "file_bytes": 98362432,
    }  # fmt: skip
    assert smollm2.kinds == ("token", "output")
    assert smollm2.table("output") is smollm2.table("token")


def test_the_card_of_the_second_starter(minilm: Checkpoint) -> None:
    card = minilm.card
    assert (card.name, card.model_type) == ("all-MiniLM-L6-v2", "bert")
    assert (card.vocab_size, card.hidden_size, card.num_layers, card.head_dim) == (30522, 384, 6, 32)
    assert (card.position_scheme, card.max_positions, card.tied) == ("learned", 512, None)
    assert minilm.kinds == ("token",)
    with pytest.raises(UserError, match="all-MiniLM-L6-v2 has no output embeddings"):
        minilm.table("output")


def test_the_starter_table_equals_the_reference_dequantisation(smollm2: Checkpoint) -> None:
    import gguf

    store = smollm2._store
    raw = np.frombuffer(store.raw("token_embd.weight"), dtype=np.uint8).reshape(49152, -1)
    some = np.random.default_rng(0).integers(0, 49152, 500)
    expected = gguf.quants.dequantize(raw[some], gguf.GGMLQuantizationType.Q8_0)
    np.testing.assert_array_equal(smollm2.table()[some], expected)
    assert not smollm2.table().flags.writeable


def test_opening_imports_none_of_the_heavy_packages() -> None:
    code = (
        "import sys; from kiruviz.models.opening import open_model; c = open_model('minilm'); c.table();"
        "print([m for m in ('torch','transformers','tokenizers','safetensors','gguf','scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_existing_path_wins_over_a_starter(make_model: MakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_model(name="smollm2")
    monkeypatch.chdir(folder.parent)
    assert open_model("smollm2").card.vocab_size == 18


def test_the_same_model_elsewhere_keeps_its_identity_and_a_changed_one_does_not(make_model: MakeModel) -> None:
    first, second = make_model(name="one"), make_model(name="two")
    other = make_model(name="three", tensors={TABLE: rows()})
    identities = [open_model(str(folder)).identity for folder in (first, second, other)]
    assert identities[0] == identities[1] != identities[2]
    (second / "vocab.txt").write_text("changed")
    assert open_model(str(second)).identity != identities[0]


def test_a_file_may_be_opened_with_its_config_beside_it(make_model: MakeModel) -> None:
    folder = make_model()
    (folder / "model.safetensors").rename(folder / "other.safetensors")
    assert open_model(str(folder / "other.safetensors")).card.name == "toy"
    assert open_model(str(folder)).card.vocab_size == 18


def test_a_hub_cache_folder_is_shown_by_the_models_name(make_model: MakeModel, tmp_path: Path) -> None:
    snapshots = tmp_path / "models--org--name/snapshots"
    snapshots.mkdir(parents=True)
    make_model().rename(snapshots / "0a1b")
    assert open_model(str(snapshots / "0a1b")).card.name == "org/name"


def test_a_table_stored_twice_is_tied_whatever_the_config_says(make_model: MakeModel) -> None:
    both = {"model.embed_tokens.weight": rows(), "lm_head.weight": rows()}
    config = {"model_type": "llama", "tie_word_embeddings": False, "architectures": ["LlamaForCausalLM"]}
    assert open_model(str(make_model(config, both, name="same"))).card.tied is True
    both["lm_head.weight"] = -rows()
    config["tie_word_embeddings"] = True
    differ = open_model(str(make_model(config, both, name="differ")))
    assert differ.card.tied is False
    np.testing.assert_array_equal(differ.table("output"), -rows())


def test_an_unknown_name_says_what_can_be_given() -> None:
    said = sentence("org/some-model")
    assert "'org/some-model'" in said
    assert "smollm2, minilm" in said
    assert "''" in sentence("")
    assert "no file or folder" in sentence("x" * 5000)


def test_folders_that_lack_something_say_what(make_model: MakeModel, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "holds no weights" in sentence(empty)
    (empty / "pytorch_model.bin").write_bytes(b"x")
    assert "pytorch_model.bin is not a model that can be opened" in sentence(empty)
    (empty / "pytorch_model.bin").write_bytes(b"\x80\x02x")
    assert "pytorch_model.bin is damaged or no PyTorch file" in sentence(empty)
    folder = make_model()
    (folder / "config.json").write_text("{not json")
    assert "config.json is not valid JSON" in sentence(folder)
    (folder / "config.json").write_text("[1]")
    assert "should hold one JSON object" in sentence(folder)


def test_other_files_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"\x08\x01\x00\x00")
    assert "model.onnx is not a model that can be opened" in sentence(tmp_path / "model.onnx")


def test_a_folder_with_only_a_config_has_a_card_and_no_rows(tmp_path: Path) -> None:
    config = {"model_type": "llama", "vocab_size": 100, "hidden_size": 16, "num_attention_heads": 2,
              "num_hidden_layers": 3, "max_position_embeddings": 64}  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    opened = open_model(str(tmp_path))
    assert opened.kinds == ()
    assert (opened.card.vocab_size, opened.card.hidden_size, opened.card.position_scheme) == (100, 16, "rotary")
    assert len(opened.vocabulary()) == 0
    with pytest.raises(UserError, match="holds no weights, so there are no rows"):
        opened.table()
    assert open_model(str(tmp_path / "config.json")).identity == opened.identity


def test_weights_without_a_config_open_by_their_tensors(make_model: MakeModel) -> None:
    folder = make_model()
    (folder / "config.json").unlink()
    opened = open_model(str(folder))
    assert opened.card.model_type is None
    assert opened.table().shape == (18, 4)


def test_several_weight_files_ask_for_one(make_model: MakeModel) -> None:
    folder = make_model()
    (folder / "model.safetensors").rename(folder / "a.safetensors")
    save_file({TABLE: rows()}, folder / "b.safetensors")
    assert "several weight files (a.safetensors, b.safetensors)" in sentence(folder)


def test_a_shape_that_contradicts_the_config_is_named(make_model: MakeModel) -> None:
    assert "18 x 4, but its configuration says vocab_size 20" in sentence(make_model({"vocab_size": 20}, name="v"))
    assert "says hidden size 8" in sentence(make_model({"hidden_size": 8}, name="h"))


def test_no_recognisable_table_lists_what_there_is(make_model: MakeModel) -> None:
    folder = make_model(tensors={"w1": rows(3), "w2": rows(5)})
    with pytest.raises(SeveralTablesError) as caught:
        open_model(str(folder))
    assert [(c.name, c.shape, c.dtype) for c in caught.value.choices] == [("w2", (5, 4), "F32"), ("w1", (3, 4), "F32")]
    assert f"holds several tables: w2 (5 x 4), w1 (3 x 4); name one as {folder}/model.safetensors::w2" in str(
        caught.value
    )
    chosen = open_model(f"{folder}::w1")
    np.testing.assert_array_equal(chosen.table(), rows(3))
    assert chosen.identity != open_model(f"{folder}::w2").identity
    assert "has no tensor 'w3'" in sentence(f"{folder}::w3")


def test_a_table_of_an_unusual_name_is_found_by_its_shape(make_model: MakeModel) -> None:
    folder = make_model(tensors={"strange.lookup": rows(), "layer.weight": rows(4)})
    np.testing.assert_array_equal(open_model(str(folder)).table(), rows())


def _index(folder: Path, weight_map: Any) -> Path:
    (folder / "model.safetensors").rename(folder / "part.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    return folder


@pytest.mark.parametrize(
    ("weight_map", "says"),
    [
        ({TABLE: "../part.safetensors"}, "names a file outside its folder"),
        ({TABLE: "/etc/part.safetensors"}, "names a file outside its folder"),
        ({TABLE: "..\\part.safetensors"}, "names a file outside its folder"),
        ({TABLE: "gone.safetensors"}, "names gone.safetensors, which is not in the folder"),
        ({"x.weight": "part.safetensors"}, "names tensor x.weight, which part.safetensors does not hold"),
        ({}, "names no weight files"),
        ([1], "names no weight files"),
    ],
)
def test_an_index_that_is_wrong_is_refused(make_model: MakeModel, weight_map: Any, says: str) -> None:
    assert says in sentence(_index(make_model(), weight_map))


def test_a_cut_off_shard_is_named(make_model: MakeModel) -> None:
    folder = _index(make_model(), {TABLE: "part.safetensors"})
    part = folder / "part.safetensors"
    part.write_bytes(part.read_bytes()[:-10])
    assert "part.safetensors is cut off" in sentence(folder)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 40) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_KEYS, inner, max_size=3),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(config=st.dictionaries(_KEYS, _VALUES, max_size=6))
def test_whatever_the_config_holds_the_model_opens_or_one_sentence_says_why(
    make_model: MakeModel, tmp_path: Path, config: dict[str, Any]
) -> None:
    folder = tmp_path / "toy" if (tmp_path / "toy").exists() else make_model()
    (folder / "config.json").write_text(json.dumps(config))
    with contextlib.suppress(UserError):
        json.dumps(open_model(str(folder)).card.to_json())


def test_a_relative_path_is_remembered_whole(make_model: MakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_model()
    monkeypatch.chdir(folder)
    card = open_model(".").card
    assert (card.name, card.path, card.source) == ("toy", str(folder / "model.safetensors"), ".")


def test_a_missing_tensor_is_a_sentence(minilm: Checkpoint) -> None:
    with pytest.raises(UserError, match="has no tensor named nope"):
        minilm.tensor("nope")
    assert minilm.tensor("embeddings.position_embeddings.weight").shape == (512, 384)
