"""The shipped lists of words by what they do or name."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from kiruviz.analysis.traits import WordList
from kiruviz.errors import UserError
from kiruviz.paths import resource

_HEAD = re.compile(r"\[([^|\]]+)\|([^|\]]+)\|([^|\]]+)\]")


def parse_lists(text: str, source: str) -> tuple[WordList, ...]:
    """Lists from the text of a file like `resources/words/categories.txt`, whose head says how it is written.

    Raises UserError, naming the line, for words before the first heading and lists that are taken in unknown.
    """
    found: list[WordList] = []
    words: dict[str, set[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if head := _HEAD.fullmatch(line):
            label, fact, kind = (part.strip() for part in head.groups())
            words[label] = set()
            found.append(WordList(label, fact, kind, frozenset()))
        elif not found:
            raise UserError(f"{source}, line {number}: words before the first [label | fact | kind].")
        elif line.startswith("+"):
            parts = tuple(part.strip() for part in line[1:].split(","))
            if unknown := [part for part in parts if part not in words]:
                raise UserError(f"{source}, line {number}: there is no list “{unknown[0]}” above it.")
            words[found[-1].label] |= set().union(*(words[part] for part in parts))
            found[-1] = WordList(found[-1].label, found[-1].fact, found[-1].source, frozenset(), parts)
        else:
            words[found[-1].label] |= set(line.split())
    return tuple(WordList(w.label, w.fact, w.source, frozenset(words[w.label]), w.parts) for w in found)


@cache
def word_lists(path: Path | None = None) -> tuple[WordList, ...]:
    """The shipped lists, or those of another file."""
    path = path or resource("words", "categories.txt")
    return parse_lists(path.read_text(encoding="utf-8"), path.name)
