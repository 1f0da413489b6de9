"""What the tests of vector files share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kiruviz.errors import UserError
from kiruviz.models.checkpoint import Checkpoint
from kiruviz.models.opening import open_model

Opened = Callable[[str, bytes], Checkpoint]


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    """opened(name, content) -> the file of that name and content, opened."""

    def make(name: str, content: bytes) -> Checkpoint:
        path = tmp_path / name
        path.write_bytes(content)
        return open_model(str(path))

    return make


@pytest.fixture
def refused(opened: Opened) -> Callable[[str, bytes], str]:
    """refused(name, content) -> the sentence with which opening such a file fails."""

    def make(name: str, content: bytes) -> str:
        with pytest.raises(UserError) as caught:
            opened(name, content).table()
        said = str(caught.value)
        assert "\n" not in said
        assert name in said
        return said

    return make
