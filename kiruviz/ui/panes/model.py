"""The model's card."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from kiruviz.models.checkpoint import Card
from kiruviz.tasks.spaces import ModelInfo
from kiruviz.ui.conductor import Conductor
from kiruviz.ui.keys import tip_with_key
from kiruviz.ui.widgets.basics import Fold, Section, button, label, row

_SCHEMES = {
    "rotary": "rotary",
    "learned": "learned table",
    "sinusoidal": "sinusoidal",
    "alibi": "ALiBi",
    "relative_bias": "relative bias",
    "none": "none",
}


class ModelPane(QWidget):
    """Shows what is known about the open model.

    open_wanted() for the link beside the title.
    """

    open_wanted = Signal()

    def __init__(self, conductor: Conductor) -> None:
        super().__init__()
        link = button("Open…", self.open_wanted.emit, "link")
        tip_with_key(link, "Open a folder with a model", "open_model")
        self.section = Section("Model", link)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self.section)
        self.title = label("Opening…", "title", wrap=True, selectable=True)
        self.values: dict[str, QLabel] = {}
        more = QWidget()
        self._more = QVBoxLayout(more)
        self._more.setContentsMargins(0, 0, 0, 0)
        self._more.setSpacing(5)
        for name in ("Head size", "Stored as", "Rows without token", "File", "Identity"):
            self._line(name, None)
        self.section.add(Fold("More", more, "Less", beside=self.title))
        for name in ("Vocabulary", "Input, output", "Positions", "Context", "Layers, heads"):
            self._line(name, self.section)
        conductor.model_changed.connect(self.show_model)

    def _line(self, name: str, section: Section | None) -> None:
        value = label("–", selectable=True)
        value.setAccessibleName(name)
        self.values[name] = value
        box = row(label(name, "muted"), 1, value)
        (section.body if section is not None else self._more).addLayout(box)

    def show_model(self, info: ModelInfo | None) -> None:
        if info is None:
            self.title.setText("No model")
            for value in self.values.values():
                value.setText("–")
            return
        card = info.card
        self.title.setText(card.name)
        for name, text in card_lines(card).items():
            self.values[name].setText(text)
        self.values["File"].setText(_shortened(Path(card.path).name, 24))
        self.values["File"].setToolTip(card.path)
        self.values["Identity"].setText(card.identity[:12] + "…")
        self.values["Identity"].setToolTip(f"SHA-256 of config, tokenizer, tensor headers and table: {card.identity}")


def card_lines(card: Card) -> dict[str, str]:
    """The card in the words of the pane."""
    heads = "–"
    if card.num_layers is not None:
        heads = f"{card.num_layers}"
        if card.num_heads is not None:
            heads += f", {card.num_heads}"
            if card.num_kv_heads is not None and card.num_kv_heads != card.num_heads:
                heads += f" ({card.num_kv_heads} kv)"
    positions = _SCHEMES.get(card.position_scheme, card.position_scheme)
    if card.rope_theta is not None:
        positions += f", θ {card.rope_theta:,.0f}"
    size = f"{card.file_bytes / 1e6:,.0f} MB"
    return {
        "Vocabulary": f"{card.vocab_size:,} × {card.hidden_size:,}",
        "Input, output": {True: "tied", False: "untied", None: "input only"}[card.tied],
        "Positions": positions,
        "Context": "–" if card.max_positions is None else f"{card.max_positions:,}",
        "Layers, heads": heads,
        "Head size": "–" if card.head_dim is None else f"{card.head_dim}",
        "Stored as": f"{card.dtype}, {size}",
        "Rows without token": f"{card.rows_without_token:,}",
    }


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length // 2]}…{text[-length // 2 :]}"
