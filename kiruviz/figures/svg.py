"""Fonts inside SVG files: text stays text, and still looks the same on a computer that lacks the font."""

from __future__ import annotations

import base64
import html
import io
import re
from functools import lru_cache
from pathlib import Path

from kiruviz.figures.fonts import INTER
from kiruviz.paths import resource

_TEXT = re.compile(r'<text style="([^"]*)"[^>]*>([^<]*)</text>')
_FILES = {
    ("normal", "400"): "Inter-Regular.ttf",
    ("normal", "600"): "Inter-SemiBold.ttf",
    ("italic", "400"): "Inter-Italic.ttf",
}


def embed_fonts(path: Path) -> None:
    """Put the glyphs of Inter that an SVG of matplotlib uses into it, as `@font-face` rules.

    Only the glyphs used: some ten kilobytes a face. Fonts other than Inter are left to the reader's
    computer, since their licences may not allow to pass them on.
    """
    svg = path.read_text(encoding="utf-8")
    used: dict[tuple[str, str], set[str]] = {}
    for style, text in _TEXT.findall(svg):
        if f"font-family: '{INTER}'" in html.unescape(style):
            slant = "italic" if "font-style: italic" in style else "normal"
            weight = re.search(r"font-weight: (\d+)", style)
            used.setdefault((slant, weight[1] if weight else "400"), set()).update(html.unescape(text))
    rules = [_rule(face, "".join(sorted(used[face]))) for face in sorted(used) if face in _FILES]
    if rules:
        style = f'<style type="text/css">{"".join(rules)}</style>'
        svg = svg.replace("</metadata>", f"</metadata>\n {style}", 1)
        path.write_text(svg, encoding="utf-8", newline="\n")


@lru_cache(maxsize=16)
def _rule(face: tuple[str, str], text: str) -> str:
    from fontTools import subset  # type: ignore[import-untyped]
    from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

    options = subset.Options(flavor="woff", hinting=False, notdef_outline=True)
    # Inter's layout tables take seconds to read; all they would give here is kerning.
    options.drop_tables += ["GSUB", "GPOS", "GDEF"]
    # The time of the subset must not be in the file: two runs write the same bytes.
    with TTFont(resource("fonts", _FILES[face]), recalcTimestamp=False) as font:
        subsetter = subset.Subsetter(options)
        subsetter.populate(text=text)
        subsetter.subset(font)
        buffer = io.BytesIO()
        subset.save_font(font, buffer, options)
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    slant, weight = face
    return (
        f"@font-face{{font-family:'{INTER}';font-style:{slant};font-weight:{weight};"
        f"src:url(data:font/woff;base64,{data})format('woff')}}"
    )
