"""The fonts of figures: Inter as shipped, and what else this computer has for glyphs Inter lacks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from kiruviz.errors import UserError
from kiruviz.paths import resource
from kiruviz.space import display_name

INTER = "Inter"
FALLBACK = "DejaVu Sans"  # ships with matplotlib, so it is always there

_FILES = ("Inter-Regular.ttf", "Inter-Medium.ttf", "Inter-SemiBold.ttf", "Inter-Italic.ttf")
# Families for scripts neither Inter nor DejaVu Sans covers; used only where installed.
# Fonts of mathematics and symbols, and matplotlib's own stand-ins, which no figure is written in.
_NO_TEXT = re.compile(r"^(STIX|cm[a-z]+10$|Last Resort)|Display$|Math|Symbol|Emoji|Dingbats|Icons?$|^D050000L")
_NEVER_LACKING = ("Cf", "Zs", "Cc")  # joiners, spaces and controls: nothing is drawn for them
_RESTRICTED = 0x0302  # of OS/2 fsType: no embedding, no subsetting, bitmaps only
_MOST_NAMED = 6
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

    @property
    def files(self) -> tuple[FontFile, ...]:
        """The font file of each family that matplotlib takes for this weight and slant."""
        return _files(self.families, self.weight, self.italic)


@dataclass(frozen=True)
class FontFile:
    """A font file, the number of the font in it, and what may be done with it.

    characters  the code points it has glyphs for
    embeddable  whether its makers allow it to be passed on inside a file
    postscript  whether its outlines are PostScript's (CFF)
    """

    path: str
    number: int
    characters: frozenset[int]
    embeddable: bool
    postscript: bool


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


def installed() -> tuple[str, ...]:
    """The families a figure can be written in: Inter first, then this computer's in the order of their names."""
    from matplotlib import font_manager

    families(INTER)
    names = {entry.name for entry in font_manager.fontManager.ttflist} - {INTER}
    return (INTER, *sorted((n for n in names if not _NO_TEXT.search(n) and not n.startswith(".")), key=str.casefold))


def glyph_notes(texts: Iterable[tuple[str, Face]]) -> tuple[str, ...]:
    """What a person should know of the fonts that these texts are written in: characters that the chosen
    family lacks, characters that no family here has, and a font that must not be embedded."""
    lacking: dict[str, None] = {}
    missing: dict[str, None] = {}
    closed, family = False, ""
    for text, face in texts:
        family = face.families[0]
        files = face.files
        closed = closed or not files[0].embeddable
        for character in text:
            code = ord(character)
            if code in files[0].characters or unicodedata.category(character) in _NEVER_LACKING:
                continue
            if character not in "\ufe0e\ufe0f":
                found = any(code in file.characters for file in files)
                (lacking if found else missing)[character] = None
    notes = []
    if missing:
        notes.append(f"No font here has {_listed(missing)}: boxes stand for what is missing.")
    if lacking and family != INTER:
        notes.append(f"{family} lacks {_listed(lacking)}: written in another font.")
    if closed:
        notes.append(f"{family} may not be embedded: choose outlines for SVG.")
    return tuple(notes)


def _listed(characters: Iterable[str]) -> str:
    found = list(characters)
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return " ".join(found[:_MOST_NAMED]) + more


@lru_cache(maxsize=64)
def _files(names: tuple[str, ...], weight: int, italic: bool) -> tuple[FontFile, ...]:
    from matplotlib import font_manager

    found = font_manager.fontManager._find_fonts_by_props(Face(names, 10.0, weight, italic).properties())
    return tuple(_file(one.path, one.face_index) for one in found)


def _font(path: str, number: int) -> Any:
    """matplotlib's own open font: shared, so its size is to be set before each use."""
    from matplotlib import font_manager

    return font_manager.get_font(font_manager.FontPath(path, number))


@lru_cache(maxsize=128)
def _file(path: str, number: int) -> FontFile:
    font = _font(path, number)
    table = font.get_sfnt_table("OS/2") or {}
    with Path(path).open("rb") as file:
        start = file.read(4)
    return FontFile(
        path, number, frozenset(font.get_charmap()), not table.get("fsType", 0) & _RESTRICTED, start == b"OTTO"
    )


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
    # Whoever shows an SVG may set it without kerning, which is mostly wider.
    plain = face.size * sum(_advance(c, face.families, face.weight, face.italic) for c in text)
    return Extent(max(width, plain), max(ascent, height - below), max(descent, below))


@lru_cache(maxsize=8192)
def _advance(character: str, names: tuple[str, ...], weight: int, italic: bool) -> float:
    """How far one character on its own moves the pen, in font sizes."""
    from matplotlib.ft2font import LoadFlags

    for file in _files(names, weight, italic):
        if ord(character) in file.characters:
            font = _font(file.path, file.number)
            font.set_size(100.0, 72)
            return float(font.load_char(ord(character), flags=LoadFlags.NO_HINTING).linearHoriAdvance) / 65536 / 100
    return 0.0


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
    # Never between a character and the marks that belong to it.
    while 0 < low < len(text) and (_belongs_to_the_one_before(text[low]) or text[low - 1] == "\u200d"):
        low -= 1
    return text[:low].rstrip() + "…"


def _belongs_to_the_one_before(character: str) -> bool:
    return bool(unicodedata.combining(character)) or character in "\u200d\ufe0e\ufe0f"


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
