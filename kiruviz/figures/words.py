"""Which words and names a map shows, and where: the drawing's part of `analysis.placement`, in pt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz.analysis.placement import densest_spot, place, place_names
from kiruviz.figures.fonts import Extent, Face, measure, shorten, writable
from kiruviz.figures.spec import ClusterMark, FigureSpec, MapPicture
from kiruviz.figures.style import Box, Line, faces
from kiruviz.palette import TEXT, cluster_color, neutral_color

Array = npt.NDArray[np.float64]

_ALL_WORDS = 1500  # up to this many points every word is a candidate
_PADDING = 0.5
_NAME_SIZES = (1.0, 0.9, 0.8, 0.7)  # of their size, tried in turn until there is room for all names
_MOST_NAMES = 0.4  # of the map's room
_LONGEST = 0.4  # of the map's width, at most, for a name; the legend and the tables have more of it
_LONGEST_EMS = 18
_FEW_LEADERS = 0.1  # more names than this share on leader lines are written smaller instead


@dataclass(frozen=True, eq=False)
class Writing:
    """The words and names of a map.

    lines    each with its box's left end and baseline
    boxes    (len(lines), 4) the boxes they take
    leaders  (q, 4) lines x0, y0, x1, y1 from a name to its cluster, with `leader_colors`
    """

    lines: tuple[Line, ...]
    boxes: Array
    leaders: Array
    leader_colors: tuple[str, ...]


def write(
    picture: MapPicture, spec: FigureSpec, xy: Array, drawn: npt.NDArray[np.bool_], room: Box, radius: float
) -> Writing:
    """Place the names of the clusters, then the words around them.

    xy      (n, 2) the points in pt; drawn (n,) which of them are in the picture
    room    the box to stay in; radius of the points in pt
    """
    nothing = Writing((), np.empty((0, 4)), np.empty((0, 4)), ())
    if spec.labels == "none" or not drawn.any():
        return nothing
    names = nothing if spec.labels == "words" else _names(picture, spec, xy, drawn, room, radius)
    worded = drawn
    if spec.labels == "selection":
        worded = drawn & np.isin(np.arange(len(drawn)), picture.selected)
    if spec.labels == "names" or not worded.any():
        return names
    words = _words(picture, spec, xy, drawn, worded, room, radius, names.boxes)
    return Writing(
        (*words.lines, *names.lines), np.vstack([words.boxes, names.boxes]), names.leaders, names.leader_colors
    )


def _names(
    picture: MapPicture, spec: FigureSpec, xy: Array, drawn: npt.NDArray[np.bool_], room: Box, radius: float
) -> Writing:
    """Cluster names at their densest spots; written smaller where there is not room for all of them."""
    found = []
    for mark in picture.clusters:
        members = xy[(picture.assignment == mark.cluster_id) & drawn]
        if len(members):
            found.append((len(members), densest_spot(members), mark))
    found.sort(key=lambda cluster: -cluster[0])
    for shrink in _NAME_SIZES:
        styled = [_name_style(mark, spec, shrink, picture.values is not None, room) for _, _, mark in found]
        extents = [measure(text, face) for text, face, _ in styled]
        count = _fitting(extents, room)
        if count < len(found) and shrink != _NAME_SIZES[-1]:
            continue
        anchors = np.array([anchor for _, anchor, _ in found[:count]]).reshape(-1, 2)
        got = place_names(
            anchors,
            [[e.width, e.height] for e in extents[:count]],
            room,
            points=xy[drawn],
            point_radius=radius,
            padding=_PADDING,
            leader_distance=spec.font_size_pt * 2.5,
        )
        if got.placed.all() and got.leader.sum() <= max(1, _FEW_LEADERS * count):
            break
    ids = [mark.cluster_id for _, _, mark in found[:count]]
    lines = _lines(got.boxes, styled[:count], extents[:count], "name", ids)
    lead = np.flatnonzero(got.leader)
    ends = np.clip(anchors[lead], got.boxes[lead, :2], got.boxes[lead, 2:])
    leaders = np.concatenate([ends, anchors[lead]], axis=1)
    return Writing(lines, got.boxes[got.placed], leaders, tuple(styled[i][2] for i in lead))


def _fitting(extents: list[Extent], room: Box) -> int:
    """How many of the names can stand in the room without filling it: the larger clusters', then the rest
    is left to the legend."""
    areas = np.cumsum([e.width * e.height for e in extents])
    return int(np.searchsorted(areas, (room[2] - room[0]) * (room[3] - room[1]) * _MOST_NAMES))


def _name_style(mark: ClusterMark, spec: FigureSpec, shrink: float, values: bool, room: Box) -> tuple[str, Face, str]:
    """What stands on the map for a cluster, its face and its colour: an unnamed one goes by its bare number.

    A name too long for a map is cut with an ellipsis. Where `values` give the points their colour, a name in
    the cluster's colour would match nothing.
    """
    style = faces(spec)
    if mark.status == "resists":
        return mark.shown, replace(style.resists, size=style.resists.size * shrink), neutral_color(spec.ground)
    face = replace(style.name, size=style.name.size * shrink)
    text = writable(mark.title) if mark.status == "named" and mark.title.strip() else str(mark.cluster_id)
    text = shorten(text, face, min((room[2] - room[0]) * _LONGEST, face.size * _LONGEST_EMS))
    return text, face, TEXT[spec.ground] if values else cluster_color(mark.color, spec.ground)


def _words(
    picture: MapPicture,
    spec: FigureSpec,
    xy: Array,
    drawn: npt.NDArray[np.bool_],
    worded: npt.NDArray[np.bool_],
    room: Box,
    radius: float,
    obstacles: Array,
) -> Writing:
    """The words of the rows `worded` beside their points, as many as there is room for.

    Where points can be told apart, first those words that cover no point, then those that cover
    one that has no word itself. A selection's words, which were asked for, may cover more.
    """
    face, color = faces(spec).word, TEXT[spec.ground]
    rows, priority = _candidates(picture, xy, worded, room, face.size)
    texts = [writable(picture.names[row]) for row in rows]
    written = [i for i, text in enumerate(texts) if text.strip()]
    rows, priority, texts = rows[written], priority[written], [texts[i] for i in written]
    extents = [measure(text, face) for text in texts]
    sizes = np.array([[e.width, e.height] for e in extents]).reshape(-1, 2)
    boxes = np.full((len(rows), 4), np.nan)
    for most_covered in _rounds(spec, int(drawn.sum())):
        left = np.flatnonzero(np.isnan(boxes[:, 0]))
        placed = np.flatnonzero(np.isfinite(boxes[:, 0]))
        # A point whose word is there stays free, or it would seem to belong to the word upon it.
        labelled = np.concatenate([xy[rows[placed]] - radius, xy[rows[placed]] + radius], axis=1)
        boxes[left] = place(
            xy[rows[left]],
            sizes[left],
            priority[left],
            radius + face.size * 0.22,
            room,
            obstacles=np.vstack([obstacles, boxes[placed], labelled]),
            points=xy[drawn],
            point_radius=radius * 0.6,
            padding=_PADDING,
            most_covered=most_covered,
        ).boxes
    lines = _lines(boxes, [(text, face, color) for text in texts], extents, "word", rows.tolist())
    return Writing(lines, boxes[np.isfinite(boxes[:, 0])], np.empty((0, 4)), ())


def _rounds(spec: FigureSpec, count: int) -> tuple[int | None, ...]:
    """How many points a word may cover, round by round."""
    if count > _ALL_WORDS:
        return (None,)
    return (0, 1, None) if spec.labels == "selection" else (0, 1)


def _lines(
    boxes: Array, styled: list[tuple[str, Face, str]], extents: list[Extent], what: str, ids: list[Any]
) -> tuple[Line, ...]:
    """The placed texts (those whose box is not NaN) as lines called `what-id`."""
    return tuple(
        Line(float(box[0]), float(box[1]) + extent.ascent, text, face, color, f"{what}-{number}")
        for box, (text, face, color), extent, number in zip(boxes, styled, extents, ids, strict=True)
        if np.isfinite(box[0])
    )


def _candidates(
    picture: MapPicture, xy: Array, drawn: npt.NDArray[np.bool_], room: Box, size: float
) -> tuple[npt.NDArray[np.int64], Array]:
    """The rows whose words may be shown, and their priority.

    Few points: all of them, those with the most room first, since crowded ones would hide one another.
    Many: one or two for each label-sized tile of the map, readable words before pieces of words, so that
    the words are spread evenly over the picture.
    """
    rows = np.flatnonzero(drawn)
    if len(rows) <= _ALL_WORDS:
        near = min(len(rows) - 1, 6)
        squared = np.square(xy[rows][:, None] - xy[rows][None]).sum(axis=2)
        return rows, np.sqrt(np.partition(squared, near, axis=1)[:, : near + 1]).sum(axis=1)
    tile = np.array([size * 5.0, size * 1.8])
    cells = ((xy[rows] - np.array(room[:2])) / tile).astype(np.int64)
    middle = (cells + 0.5) * tile + np.array(room[:2])
    away = np.abs((xy[rows] - middle) / tile).sum(axis=1)
    readable = np.array([_readable(picture.names[row]) for row in rows])
    tile_number = cells[:, 1] * (int((room[2] - room[0]) / tile[0]) + 2) + cells[:, 0]
    order = np.lexsort((away, ~readable, tile_number))
    first = np.ones(len(order), dtype=bool)
    first[1:] = tile_number[order][1:] != tile_number[order][:-1]
    chosen = order[first]
    return rows[chosen], readable[chosen] * 10.0 - away[chosen]


def _readable(name: str) -> bool:
    word = name.strip()
    return 3 <= len(word) <= 12 and word.isalpha()
