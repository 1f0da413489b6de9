"""How a picture was made, written into the file of the picture, and read back from it."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from kiruviz import __version__
from kiruviz.errors import UserError
from kiruviz.figures.files import suffix_of

FORMATS = (".png", ".svg", ".pdf")
_PNG_KEY = "KiruViz-Recipe"
_CREATOR = f"KiruViz {__version__}"
_PDF_KEYWORDS = re.compile(rb"/Keywords\s*\(((?:\\.|[^\\)])*)\)", re.DOTALL)
_SVG_SOURCE = re.compile(r"<dc:source>(.*?)</dc:source>", re.DOTALL)


def sentence(lines: dict[str, str]) -> str:
    """The recipe as one line for people: `model SmolLM2-135M · metric cosine · seed 0`."""
    return " · ".join(f"{key.replace('_', ' ')} {value}" for key, value in lines.items() if value)


def metadata(suffix: str, title: str, lines: dict[str, str]) -> dict[str, str | None]:
    """What matplotlib's writer of this format is given: title, sentence and the recipe as JSON. No dates."""
    # ASCII only, so that every format stores it in the same plain way.
    text = json.dumps(lines, sort_keys=True)
    name = title or "Map"
    if suffix == ".png":
        return {
            "Title": name,
            "Description": sentence(lines),
            "Source": lines.get("model", ""),
            "Software": _CREATOR,
            _PNG_KEY: text,
        }
    if suffix == ".svg":
        return {"Title": name, "Description": sentence(lines), "Source": text, "Creator": _CREATOR, "Date": None}
    return {"Title": name, "Subject": sentence(lines), "Keywords": text, "Creator": _CREATOR, "CreationDate": None}


def read_recipe(path: Path) -> dict[str, str]:
    """The recipe in a PNG, SVG or PDF that KiruViz wrote. `UserError` where there is none."""
    path = Path(path)
    suffix = suffix_of(path, FORMATS)
    try:
        text = {".png": _from_png, ".svg": _from_svg, ".pdf": _from_pdf}[suffix](path)
        recipe = json.loads(text)
    except OSError as error:
        raise UserError(f"{path} cannot be read as a picture ({error}): is it the right file?") from error
    except (LookupError, ValueError) as error:
        raise UserError(f"{path} holds no recipe: it was not written by KiruViz, or was saved anew since.") from error
    if not isinstance(recipe, dict):
        raise UserError(f"{path} holds a recipe that cannot be read: make the picture again.")
    return {str(key): str(value) for key, value in recipe.items()}


def _from_png(path: Path) -> str:
    from PIL import Image

    with Image.open(path) as image:
        image.load()
        return str(image.info[_PNG_KEY])


def _from_svg(path: Path) -> str:
    found = _SVG_SOURCE.search(path.read_text(encoding="utf-8"))
    if found is None:
        raise LookupError("no dc:source")
    return html.unescape(found[1])


def _from_pdf(path: Path) -> str:
    found = _PDF_KEYWORDS.search(path.read_bytes())
    if found is None:
        raise LookupError("no Keywords")
    return re.sub(rb"\\([()\\nr])", _unescape, found[1]).decode("ascii")


def _unescape(match: re.Match[bytes]) -> bytes:
    return {b"n": b"\n", b"r": b"\r"}.get(match[1], match[1])
