"""The fonts of figures: Inter as shipped, and what else this computer has for glyphs Inter lacks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kiruviz.errors import UserError
from kiruviz.paths import resource
from kiruviz.space import display_name

INTER = "Inter"
FALLBACK = "DejaVu Sans"  # ships with matplotlib, so it is always there

_FILES = ("Inter-Regular.ttf", "Inter-Medium.ttf", "Inter-SemiBold.ttf", "Inter-Italic.ttf")
# Families for scripts neither Inter nor DejaVu Sans covers; used only where installed.
_SCRIPTS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "Microsoft YaHei", "PingFang SC", "Arial Unicode MS", "Noto Sans")


@dataclass(frozen=True)
class Face:
    """One way of writing: families in the order they are tried, size in pt, weight (400, 600) and slant."""

    families: tuple[str, ...]
    size: float
    weight: int = 400
    italic: bool = False

    def properties(self) -> Any:
        """The matching `matplotlib.font_manager.FontProperties`."""
        return _properties(self)


@dataclass(frozen=True)
class Extent:
    """The box of a written line in pt: its width, and how far it reaches above and below the baseline."""

    width: float
    ascent: float
    descent: float

    @property
    def height(self) -> float:
        return self.ascent + self.descent


@lru_cache(maxsize=32)
def families(first: str) -> tuple[str, ...]:
    """The families to try for a figure in `first`, all known to matplotlib. `UserError` if `first` is not there."""
    from matplotlib import font_manager

    known = {entry.name for entry in font_manager.fontManager.ttflist}
    if not any(entry.fname == str(resource("fonts", _FILES[0])) for entry in font_manager.fontManager.ttflist):
        for name in _FILES:
            font_manager.fontManager.addfont(str(resource("fonts", name)))
        known.add(INTER)
    if first not in known:
        raise UserError(f"The font {first!r} is not on this computer: install it, or choose {INTER} or {FALLBACK}.")
    return tuple(dict.fromkeys(f for f in (first, INTER, FALLBACK, *_SCRIPTS) if f in known))


@lru_cache(maxsize=64)
def _properties(face: Face) -> Any:
    from matplotlib.font_manager import FontProperties

    return FontProperties(
        family=list(face.families), size=face.size, weight=face.weight, style="italic" if face.italic else "normal"
    )


@lru_cache(maxsize=64)
def _metrics(face: Face) -> tuple[float, float]:
    """How far a line of this face reaches above and below its baseline, in pt, as matplotlib lays it out."""
    from matplotlib import font_manager

    font = font_manager.get_font(font_manager.fontManager._find_fonts_by_props(face.properties()))
    scale = face.size / font.units_per_EM
    table = font.get_sfnt_table("OS/2")
    if table is None:
        return font.ascender * scale, -font.descender * scale
    return table["sTypoAscender"] * scale, -table["sTypoDescender"] * scale


@lru_cache(maxsize=8192)
def measure(text: str, face: Face) -> Extent:
    """The box that `text`, one line without mathematics, takes when matplotlib writes it in `face`."""
    from matplotlib.textpath import text_to_path

    ascent, descent = _metrics(face)
    width, height, below = text_to_path.get_text_width_height_descent(text, face.properties(), False)
    return Extent(width, max(ascent, height - below), max(descent, below))


def shorten(text: str, face: Face, width: float) -> str:
    """`text`, cut with an ellipsis where it is wider than `width` pt."""
    if measure(text, face).width <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if measure(text[:middle].rstrip() + "…", face).width <= width:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + "…"


def wrap(text: str, face: Face, width: float) -> list[str]:
    """`text` in lines of at most `width` pt, broken at spaces; a longer word is cut with an ellipsis."""
    lines: list[str] = []
    for word in text.split():
        if lines and measure(f"{lines[-1]} {word}", face).width <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(shorten(word, face, width))
    return lines


def writable(text: str) -> str:
    """A name as it may be written in any format: as shown on screen, and nothing that XML forbids.

    Vocabularies hold control characters and halves of surrogate pairs; one of them makes an SVG unreadable.
    """
    shown = display_name(text)
    return "".join(_writable(c) for c in shown)


def _writable(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)  # the control's picture
    if code == 0x7F:
        return "\u2421"
    if 0x80 <= code < 0xA0 or 0xD800 <= code < 0xE000 or code in (0xFFFE, 0xFFFF):
        return "\ufffd"
    return character
