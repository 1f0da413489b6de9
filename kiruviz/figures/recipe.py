"""How a picture was made, written into the file of the picture, and read back from it.

Two things are kept: the recipe in words for people (title, description, JSON), and, compressed, all that is
needed to make the picture again.
"""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kiruviz import __version__
from kiruviz.errors import UserError
from kiruviz.figures.files import suffix_of

FORMATS = (".png", ".svg", ".pdf")
_PNG_KEY = "KiruViz-Recipe"
_PNG_ORIGIN = "KiruViz-Figure"
_PDF_ORIGIN = "KiruVizFigure"
_CREATOR = f"KiruViz {__version__}"
_MOST_BYTES = 256 << 20  # what a file may unpack to; 50,000 words are 2 MB
_PDF_KEYWORDS = re.compile(rb"/Keywords\s*\(((?:\\.|[^\\)])*)\)", re.DOTALL)
_PDF_PACKED = re.compile(rb"/" + _PDF_ORIGIN.encode() + rb"\s*\(([A-Za-z0-9+/=]*)\)")
_SVG_SOURCE = re.compile(r"<dc:source>(.*?)</dc:source>", re.DOTALL)
_SVG_PACKED = re.compile(r"<kiruviz:figure[^>]*>([A-Za-z0-9+/=]*)</kiruviz:figure>")


@dataclass(frozen=True, eq=False)
class About:
    """What a file says of its picture: a title, the recipe in words, and the `origin` (JSON values) from which
    it can be made again; an empty one is not written."""

    title: str
    lines: dict[str, str]
    origin: dict[str, Any] = field(default_factory=dict)

    @property
    def packed(self) -> str:
        """The origin as letters that every format can hold."""
        text = json.dumps(self.origin, sort_keys=True, separators=(",", ":"))
        return base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii")

    def put_into_svg(self, path: Path) -> None:
        """Add the origin to the metadata of an SVG."""
        if self.origin:
            svg = path.read_text(encoding="utf-8")
            element = f'<kiruviz:figure xmlns:kiruviz="urn:kiruviz:figure">{self.packed}</kiruviz:figure>'
            path.write_text(svg.replace("</metadata>", f" {element}\n </metadata>", 1), encoding="utf-8", newline="\n")


def sentence(lines: dict[str, str]) -> str:
    """The recipe as one line for people: `model SmolLM2-135M · metric cosine · seed 0`."""
    return " · ".join(f"{key.replace('_', ' ')} {value}" for key, value in lines.items() if value)


def metadata(suffix: str, about: About) -> dict[str, str | None]:
    """What matplotlib's writer of this format is given: title, sentence, the recipe as JSON and, but for SVG
    (see `About.put_into_svg`), the origin. No dates."""
    # ASCII only, so that every format stores it in the same plain way.
    lines, text = about.lines, json.dumps(about.lines, sort_keys=True)
    name = about.title or "Map"
    if suffix == ".png":
        return {
            "Title": name,
            "Description": sentence(lines),
            "Source": lines.get("model", ""),
            "Software": _CREATOR,
            _PNG_KEY: text,
            **({_PNG_ORIGIN: about.packed} if about.origin else {}),
        }
    if suffix == ".svg":
        return {"Title": name, "Description": sentence(lines), "Source": text, "Creator": _CREATOR, "Date": None}
    return {
        "Title": name,
        "Subject": sentence(lines),
        "Keywords": text,
        "Creator": _CREATOR,
        "CreationDate": None,
        **({_PDF_ORIGIN: about.packed} if about.origin else {}),
    }


def read_recipe(path: Path) -> dict[str, str]:
    """The recipe in words in a PNG, SVG or PDF that KiruViz wrote. `UserError` where there is none."""
    recipe = _read(path, lambda found: json.loads(found[0]))
    return {str(key): str(value) for key, value in recipe.items()}


def read_origin(path: Path) -> dict[str, Any]:
    """What a PNG, SVG or PDF of KiruViz was made from. `UserError` where that is not in it."""
    return _read(path, lambda found: _unpacked(found[1]))


def _unpacked(packed: str) -> Any:
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(base64.b64decode(packed, validate=True), _MOST_BYTES)
    if not unpacker.eof:
        raise ValueError("more than can be")
    return json.loads(data)


def _read(path: Path, take: Callable[[tuple[str, str]], Any]) -> dict[str, Any]:
    path = Path(path)
    suffix = suffix_of(path, FORMATS)
    try:
        recipe = take({".png": _from_png, ".svg": _from_svg, ".pdf": _from_pdf}[suffix](path))
    except OSError as error:
        raise UserError(f"{path} cannot be read as a picture ({error}): is it the right file?") from error
    except (LookupError, ValueError, zlib.error, RecursionError) as error:
        raise UserError(f"{path} holds no recipe: it was not written by KiruViz, or was saved anew since.") from error
    if not isinstance(recipe, dict):
        raise UserError(f"{path} holds a recipe that cannot be read: make the picture again.")
    return recipe


def _from_png(path: Path) -> tuple[str, str]:
    from PIL import Image

    with Image.open(path) as image:
        image.load()
        return str(image.info[_PNG_KEY]), str(image.info.get(_PNG_ORIGIN, ""))


def _from_svg(path: Path) -> tuple[str, str]:
    svg = path.read_text(encoding="utf-8")
    found, packed = _SVG_SOURCE.search(svg), _SVG_PACKED.search(svg)
    if found is None:
        raise LookupError("no dc:source")
    return html.unescape(found[1]), packed[1] if packed else ""


def _from_pdf(path: Path) -> tuple[str, str]:
    data = path.read_bytes()
    found, packed = _PDF_KEYWORDS.search(data), _PDF_PACKED.search(data)
    if found is None:
        raise LookupError("no Keywords")
    lines = re.sub(rb"\\([()\\nr])", _unescape, found[1]).decode("ascii")
    return lines, packed[1].decode("ascii") if packed else ""


def _unescape(match: re.Match[bytes]) -> bytes:
    return {b"n": b"\n", b"r": b"\r"}.get(match[1], match[1])
