"""Fonts inside SVG files: text stays text, and still looks the same on a computer that lacks the font."""

from __future__ import annotations

import base64
import html
import io
import re
from functools import lru_cache
from pathlib import Path

from kiruviz.figures.fonts import Face, FontFile

_TEXT = re.compile(r'<text style="([^"]*)"[^>]*>([^<]*)</text>')
_LAYOUT = ("GSUB", "GPOS", "GDEF", "kern")


def embed_fonts(path: Path) -> None:
    """Put the glyphs that an SVG of matplotlib uses into it, as `@font-face` rules.

    Only the glyphs used: some ten kilobytes a face. Each character comes from the first family of its text
    that has it. Fonts whose makers forbid it are left to the reader's computer.
    """
    svg = path.read_text(encoding="utf-8")
    used: dict[tuple[str, str, int], tuple[FontFile, set[str]]] = {}
    for style, text in _TEXT.findall(svg):
        face = _face(html.unescape(style))
        slant = "italic" if face.italic else "normal"
        for character in html.unescape(text):
            for family, file in zip(face.families, face.files, strict=True):
                if ord(character) in file.characters:
                    used.setdefault((family, slant, face.weight), (file, set()))[1].add(character)
                    break
    rules = [
        _rule(*key, file, "".join(sorted(characters)))
        for key, (file, characters) in sorted(used.items(), key=lambda one: one[0])
        if file.embeddable
    ]
    if rules:
        sheet = f'<style type="text/css">{"".join(rules)}</style>'
        svg = svg.replace("</metadata>", f"</metadata>\n {sheet}", 1)
        path.write_text(svg, encoding="utf-8", newline="\n")


def _face(style: str) -> Face:
    """The face of a text of matplotlib, from its style."""
    weight = re.search(r"font-weight: (\d+)", style)
    families = re.search(r"font-family: ([^;]*)", style)
    names = tuple(re.findall(r"'([^']*)'", families[1])) if families else ()
    return Face(names, 10.0, int(weight[1]) if weight else 400, "font-style: italic" in style)


@lru_cache(maxsize=32)
def _rule(family: str, slant: str, weight: int, file: FontFile, text: str) -> str:
    from fontTools import subset  # type: ignore[import-untyped]
    from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

    options = subset.Options(flavor="woff", hinting=False, notdef_outline=True)
    # Tables of font editors, which it would drop with a word on stderr.
    options.drop_tables += ["FFTM", "PfEd", "TeX ", "BDF ", "EBSC"]
    if not any(_needs_shaping(character) for character in text):
        # Layout tables can take seconds to read; all they would give here is kerning.
        options.drop_tables += _LAYOUT
    # The time of the subset must not be in the file: two runs write the same bytes.
    with TTFont(file.path, fontNumber=file.number, recalcTimestamp=False) as font:
        subsetter = subset.Subsetter(options)
        subsetter.populate(text=text)
        subsetter.subset(font)
        buffer = io.BytesIO()
        subset.save_font(font, buffer, options)
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return (
        f"@font-face{{font-family:'{family}';font-style:{slant};font-weight:{weight};"
        f"src:url(data:font/woff;base64,{data})format('woff')}}"
    )


def _needs_shaping(character: str) -> bool:
    """Whether a script writes its letters differently side by side: Hebrew to Khmer and Mongolian."""
    return 0x0590 <= ord(character) < 0x1E00
