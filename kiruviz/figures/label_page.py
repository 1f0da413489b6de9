"""Labels as one page to read and to print: nothing beside the file is needed."""

from __future__ import annotations

from html import escape

from kiruviz.figures.label_files import Label, Labels
from kiruviz.palette import cluster_color, neutral_color
from kiruviz.space import display_name

# So many members of a cluster are listed; the rest is counted, and is in CSV and JSON.
MOST_MEMBERS = 300
_SURE = {1: "●○○", 2: "●●○", 3: "●●●"}

_STYLE = """
body { font: 13px/1.45 Inter, "Segoe UI", "Helvetica Neue", Arial, sans-serif; color: #1b1f26; background: #fff;
  max-width: 1040px; margin: 32px auto; padding: 0 24px; }
h1 { font-size: 20px; font-weight: 600; margin: 0 0 4px; }
p { color: #5c6573; margin: 0 0 20px; }
table { border-collapse: collapse; width: 100%; }
th { font-size: 11px; font-weight: 600; text-align: left; color: #5c6573; text-transform: uppercase;
  letter-spacing: .04em; }
th, td { padding: 8px 12px 8px 0; border-bottom: 1px solid #dde1e7; vertical-align: top; }
td.name { font-weight: 600; min-width: 130px; overflow-wrap: anywhere; }
td.resists, td.unnamed { font-weight: 400; font-style: italic; color: #5c6573; }
td.number, td.sure { white-space: nowrap; }
td.note { white-space: pre-wrap; overflow-wrap: anywhere; min-width: 110px; }
td.members { overflow-wrap: anywhere; }
td.members b { font-weight: 600; }
.swatch { display: inline-block; box-sizing: border-box; width: 10px; height: 10px; border-radius: 5px;
  margin-right: 8px; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; color: #5c6573; font-size: 12px;
  margin: 24px 0 0; }
dt, dd { margin: 0; overflow-wrap: anywhere; }
@page { margin: 16mm; }
@media print {
  body { max-width: none; margin: 0; padding: 0; font-size: 9.5pt; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
  tr.long { break-inside: auto; }
}
"""


def page(labels: Labels) -> str:
    """The labels as an HTML page: swatch and number, name, status, confidence, members and note of each cluster,
    and below the table how the map was made. Every text is escaped; a leading space of a token is a middle dot."""
    title = f"Labels: {labels.recipe['model']}" if labels.recipe.get("model") else "Labels"
    headings = "".join(f"<th>{name}</th>" for name in ("Cluster", "Name", "Status", "Sure", "Members", "Note"))
    rows = "\n".join(_row(label) for label in labels.groups)
    made = "\n".join(f"<dt>{escape(key)}</dt><dd>{escape(value)}</dd>" for key, value in labels.recipe.items() if value)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n"
        f"<p>{escape(_summary(labels))}</p>\n<table>\n<thead><tr>{headings}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n"
        f"</table>\n<dl>\n{made}\n</dl>\n</body>\n</html>\n"
    )


def _summary(labels: Labels) -> str:
    statuses = [label.status for label in labels.clusters]
    parts = [f"{statuses.count('named')} of {len(statuses)} clusters named"]
    if statuses.count("resists"):
        parts.append(f"{statuses.count('resists')} resisting")
    rows = sum(len(label.members) for label in labels.groups)
    parts.append(f"{rows:,} rows")
    if labels.aside is not None:
        parts.append(f"{len(labels.aside.members):,} of them in no cluster")
    return ", ".join(parts)


def _row(label: Label) -> str:
    aside = label.cluster < 0
    number = "–" if aside else str(label.cluster)
    name = "in no cluster" if aside else label.name if label.status == "named" else _without_name(label)
    style = "resists" if aside or label.status == "resists" else label.status
    shown = ", ".join(escape(display_name(member)) for member in label.members[:MOST_MEMBERS])
    more = len(label.members) - MOST_MEMBERS
    if more > 0:
        shown += f" … and {more:,} more, listed in the CSV and JSON files"
    long = ' class="long"' if len(label.members) > 60 else ""
    status = "" if aside else label.status
    return (
        f'<tr{long}><td class="number">{_swatch(label)}{number}</td><td class="name {style}">{escape(name)}</td>'
        f'<td>{escape(status)}</td><td class="sure">{_sure(label)}</td>'
        f'<td class="members"><b>{len(label.members):,}</b> {shown}</td><td class="note">{escape(label.note)}</td></tr>'
    )


def _without_name(label: Label) -> str:
    return "resists naming" if label.status == "resists" else "unnamed"


def _sure(label: Label) -> str:
    if label.confidence is None:
        return ""
    return f'<span title="confidence {label.confidence} of 3">{_SURE[label.confidence]} {label.confidence}</span>'


def _swatch(label: Label) -> str:
    """The cluster's colour: a disc, or a ring for one that resists naming and for what is in no cluster."""
    if label.cluster < 0 or label.status == "resists":
        return f'<span class="swatch" style="border: 1.5px solid {neutral_color("light")}"></span>'
    color = cluster_color(label.cluster if label.color is None else label.color, "light")
    return f'<span class="swatch" style="background: {color}"></span>'
