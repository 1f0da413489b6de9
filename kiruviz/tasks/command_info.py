"""What `kiruviz info` tells a person."""

from __future__ import annotations

from kiruviz.models.checkpoint import Card


def card_lines(card: Card) -> dict[str, str]:
    """The card in words."""
    tied = {True: "the same rows (tied)", False: "rows of its own", None: "none"}
    heads = _said(card.num_heads)
    if card.num_kv_heads not in (None, card.num_heads):
        heads += f", {card.num_kv_heads} for keys and values"
    positions = card.position_scheme.replace("_", " ")
    if card.rope_theta is not None:
        positions += f", theta {card.rope_theta:,.10g}"
    if card.max_positions is not None:
        positions += f", up to {card.max_positions:,}"
    lines = {
        "Model": card.name,
        "Type": _said(card.model_type),
        "Input embedding": f"{card.vocab_size:,} rows of {card.hidden_size:,}, stored as {card.dtype}",
        "Rows without token": f"{card.rows_without_token:,}",
        "Output embedding": tied[card.tied],
        "Layers": _said(card.num_layers),
        "Heads": heads,
        "Head size": _said(card.head_dim),
        "Positions": positions,
        "File": f"{card.path} ({card.file_bytes / 1e6:,.1f} MB)",
        "Identity": card.identity,
    }
    return lines | ({"Note": " ".join(card.notes)} if card.notes else {})


def _said(value: object) -> str:
    return "–" if value is None else str(value)
