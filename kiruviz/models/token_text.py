"""What a token is: its exact text, and what kind of thing it is."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from kiruviz.models.tokenizer import Flavour

KINDS = ("word", "piece", "number", "punctuation", "space", "byte", "special", "unused", "padding", "other")

_UNUSED = re.compile(r"[\[<]\|?(?:unused|reserved|extra)[_-]?(?:special_token_|token_)?\d+\|?[\]>]", re.IGNORECASE)
_BYTE = re.compile(r"<0x[0-9A-Fa-f]{2}>")

# Scripts written without spaces between words: there a token of letters is not known to be a part.
_UNSPACED = frozenset(("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan"))


def _byte_table() -> dict[int, int]:
    """GPT-2's writing of bytes as printable characters, inverted: code point -> byte."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [byte for byte in range(256) if byte not in printable]
    table = {byte: byte for byte in printable}
    table.update({256 + place: byte for place, byte in enumerate(rest)})
    return table


_BYTES = _byte_table()


def decode_bytelevel(raw: str) -> tuple[str, bool]:
    """A byte-level token's text, and whether its bytes are no whole UTF-8 (then shown as `<0xE2 0x80>`)."""
    if any(ord(char) not in _BYTES for char in raw):
        return raw, False
    data = raw.translate(_BYTES).encode("latin-1")
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        return "<" + " ".join(f"0x{byte:02X}" for byte in data) + ">", True


def decode(raw: str, flavour: Flavour) -> tuple[str, bool]:
    """A token's exact text, and whether it stands for bytes that are no text by themselves."""
    if flavour == "bytelevel":
        return decode_bytelevel(raw)
    if flavour == "sentencepiece":
        if _BYTE.fullmatch(raw):
            return raw, True
        return raw.replace("▁", " "), False
    return raw, False


def kind_of_special(text: str) -> str:
    """`unused` for the spare tokens of a vocabulary, else `special`."""
    return "unused" if _UNUSED.fullmatch(text) else "special"


def kind_of(text: str, flavour: Flavour, continuation: str = "##") -> str:
    """The kind of an ordinary token, from its text.

    Parameters
    ----------
    text : the token's exact text (a WordPiece continuation keeps its mark)
    flavour : how the vocabulary marks the start of a word
    continuation : WordPiece's mark of a word's inside
    """
    if _UNUSED.fullmatch(text):
        return "unused"
    inside = flavour == "wordpiece" and text.startswith(continuation) and len(text) > len(continuation)
    core = text[len(continuation) :] if inside else text.removeprefix(" ")
    if not core or core.isspace():
        return "space" if text else "other"
    if is_letters(core):
        starts = not inside if flavour in ("wordpiece", "plain") else text.startswith(" ")
        return "word" if starts or (not inside and script_of(core) in _UNSPACED) else "piece"
    classes = {_category(char) for char in core}
    if classes <= {"Nd", "Nl", "No"}:
        return "number"
    if all(one[0] == "P" or one in ("Sm", "Sc", "Sk") for one in classes):
        return "punctuation"
    return "other"


def is_letters(core: str) -> bool:
    """Letters and their marks only; apostrophes and hyphens may stand between them (don't, co-op)."""
    if core.isalpha():
        return True
    if not (_letter(core[0]) and _letter(core[-1])):
        return False
    return all(_letter(char) or char in "'’-" for char in core)


def script_of(text: str) -> str:
    """The script of the first letter, `` for a text without letters."""
    return next((script for char in text if (script := _script(char))), "")


def _letter(char: str) -> bool:
    return char.isalpha() or _category(char)[0] == "M"


@cache
def _category(char: str) -> str:
    return unicodedata.category(char)


_NAMED = re.compile(
    r"(?:FULLWIDTH |HALFWIDTH )?(?P<script>.+?) (?:(?:SMALL |CAPITAL |FINAL |ALIF |SUBJOINED )?"
    r"(?:LETTER|LIGATURE|SYLLABLE|CHARACTER)|(?:UNIFIED|COMPATIBILITY) IDEOGRAPH)"
)


@cache
def _script(char: str) -> str:
    """A letter's script from its Unicode name (LATIN SMALL LETTER A), as the first word, capitalised."""
    if not char.isalpha():
        return ""
    if char.isascii():
        return "Latin"
    match = _NAMED.match(unicodedata.name(char, ""))
    if match is None or match["script"].startswith(("MODIFIER", "MATHEMATICAL")):
        return ""
    first = match["script"].split()[0]
    return "Han" if first == "CJK" else first.split("-")[0].capitalize()
