"""The command line. Imports `ui` only to open the window."""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from kiruviz import __version__
from kiruviz.errors import UserError
from kiruviz.space import KINDS, METRICS, PIECE_RULES, display_name

Runner = Callable[[argparse.Namespace], int]
_LARGEST = 2**53


class Parser(argparse.ArgumentParser):
    """Wrong arguments are one sentence on stderr and exit 2."""

    def error(self, message: str) -> Any:
        said = " ".join(message.split())
        self.exit(2, f"kiruviz: {said[0].upper()}{said[1:]}; see {self.prog} --help.\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code: 0, or 2 with one sentence on stderr."""
    _print_anything()
    options = _parser().parse_args(arguments)
    try:
        run: Runner = options.run
        code = run(options)
        sys.stdout.flush()
        return code
    except UserError as error:
        print(f"kiruviz: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of a pipe has seen enough
        # Python flushes once more at its end, and would complain about the pipe there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("kiruviz: Stopped.", file=sys.stderr)
        return 130
    except MemoryError:
        print("kiruviz: The memory ran out; take fewer rows or close other programs.", file=sys.stderr)
        return 2
    except Exception as error:  # a fault of the program: the details are for who mends it
        print(f"kiruviz: {_fault(error)}", file=sys.stderr)
        return 2


def _print_anything() -> None:
    """Tokens and file names may hold what the terminal's encoding has not: shown escaped, never an error."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _fault(error: Exception) -> str:
    from kiruviz.paths import data_dir

    said = " ".join(f"{type(error).__name__}: {error}".split())
    path = data_dir() / "kiruviz.log"
    try:
        with path.open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write("".join(traceback.format_exception(error)))
    except OSError:
        return f"Something went wrong inside KiruViz ({said})."
    return f"Something went wrong inside KiruViz ({said}); {path} has the details."


def _parser() -> Parser:
    parser = Parser(prog="kiruviz", description="Look inside a language model's embeddings.")
    parser.add_argument("--version", action="version", version=f"kiruviz {__version__}")
    parser.set_defaults(run=_open_window, path=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_open(commands)
    _add_info(commands)
    _add_neighbors(commands)
    _add_map(commands)
    _add_export(commands)
    _add_labels(commands)
    _add_models(commands)
    _add_fetch(commands)
    return parser


def _add_command(commands: Any, name: str, run: Runner, text: str) -> Any:
    parser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.set_defaults(run=run)
    return parser


def _add_open(commands: Any) -> None:
    parser = _add_command(commands, "open", _open_window, "open the window on a model or a session")
    parser.add_argument("path", metavar="PATH", help="a model (smollm2, minilm, a folder) or a .kiru session")


def _add_model(parser: Any) -> None:
    parser.add_argument("model", metavar="MODEL", help="smollm2, minilm, the folder or file of a model, or OWNER/NAME")


def _add_info(commands: Any) -> None:
    parser = _add_command(commands, "info", _info, "what a model is: sizes, tying, positions")
    _add_model(parser)
    _add_json(parser)


def _add_neighbors(commands: Any) -> None:
    parser = _add_command(commands, "neighbors", _neighbors, "the nearest rows of the whole table to a token")
    _add_model(parser)
    parser.add_argument("token", metavar="TOKEN", help="the exact token, else with a leading space")
    parser.add_argument("-k", type=_whole, default=10, metavar="K", help="how many (10)")
    parser.add_argument("--metric", choices=METRICS, default="cosine", help="(cosine)")
    parser.add_argument("--id", action="store_true", help="TOKEN is a row number")
    parser.add_argument("--kind", choices=KINDS, default="token", help="input or output embedding")
    _add_transform(parser)
    _add_json(parser)


def _add_map(commands: Any) -> None:
    parser = _add_command(commands, "map", _map, "project and cluster rows of a model, and write the map")
    _add_model(parser)
    parser.add_argument("--kind", choices=KINDS, default="token", help="input or output embedding")
    rows = parser.add_mutually_exclusive_group()
    rows.add_argument("--words", type=Path, metavar="FILE", help="words, one a line (default: the everyday words)")
    rows.add_argument("--all", action="store_true", help="the whole vocabulary")
    parser.add_argument(
        "--pieces", choices=PIECE_RULES, default="mean", help="what stands for a word of several tokens (mean)"
    )
    _add_transform(parser)
    parser.add_argument("--method", choices=("pca", "umap"), default="pca", help="(pca)")
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the method, such as n_neighbors=30; may be given several times",
    )
    _add_clustering(parser)
    parser.add_argument("--seed", type=_whole, default=0, metavar="S", help="seed of UMAP, k-means and EVoC (0)")
    parser.add_argument("--session", type=Path, metavar="OUT.kiru", help="a session to open in the window")
    _add_outputs(parser)
    _add_json(parser)


def _add_export(commands: Any) -> None:
    parser = _add_command(commands, "export", _export, "figure, table or labels of a session, or a figure again")
    parser.add_argument(
        "source",
        type=Path,
        metavar="SOURCE",
        help="a session (.kiru), or a figure of KiruViz (.svg, .pdf, .png) that is computed and drawn again",
    )
    parser.add_argument(
        "--view", metavar="NAME", help="a saved view (default: that of the last figure, else as it was last looked at)"
    )
    parser.add_argument("--whole", action="store_true", help="the whole map, whatever part the view shows")
    parser.add_argument("--model", metavar="MODEL", help="where the model of a figure is now")
    _add_outputs(parser)
    parser.add_argument("--labels", type=Path, metavar="F", help="labels as .csv, .json or .html (a page to print)")
    vectors = parser.add_argument_group("the vectors, with names, places and labels, for other programs")
    vectors.add_argument("--projector", type=Path, metavar="DIR", help="the Embedding Projector's three files")
    vectors.add_argument("--atlas", type=Path, metavar="F", help="Parquet for embedding-atlas")
    vectors.add_argument("--word2vec", type=Path, metavar="F", help="word2vec's text: .vec or .txt")
    vectors.add_argument("--npz", type=Path, metavar="F", help="NumPy's .npz")
    _add_json(parser)


def _add_labels(commands: Any) -> None:
    parser = _add_command(commands, "labels", _labels, "how far two people's labels agree; both as one file")
    for side in ("a", "b"):
        parser.add_argument(side, type=Path, metavar=side.upper(), help="labels as .csv or .json, or a .kiru session")
    parser.add_argument("--merge", type=Path, metavar="OUT", help="write both as one: .csv, .json or .html")
    parser.add_argument(
        "--prefer",
        choices=("a", "b"),
        help="whose answer --merge takes where they differ; the other goes into the note",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a file that exists")
    _add_json(parser)


def _add_clustering(parser: Any) -> None:
    methods = ("kmeans", "hdbscan", "agglomerative", "evoc")
    parser.add_argument("--cluster-method", choices=methods, default="kmeans", help="(kmeans)")
    parser.add_argument(
        "--cluster-metric",
        choices=("euclidean", "cosine"),
        help="cosine: rows of unit length, then Euclidean distance (euclidean; evoc: cosine)",
    )
    parser.add_argument(
        "--cluster-param",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the cluster method, such as min_cluster_size=8; may be given several times",
    )
    parser.add_argument("--clusters", type=_whole, metavar="K", help="number of clusters, kmeans and agglomerative (8)")


def _add_models(commands: Any) -> None:
    parser = _add_command(commands, "models", _models, "the models on this computer")
    _add_json(parser)


def _add_fetch(commands: Any) -> None:
    parser = _add_command(
        commands, "fetch", _fetch, "fetch a model from a Hub, or only its table; the size comes first"
    )
    parser.add_argument("name", metavar="OWNER/NAME", help="its name, with @REVISION for one that is not main")
    parser.add_argument("--look", action="store_true", help="only the table, the tokenizer and the configuration")
    parser.add_argument("--file", metavar="NAME", help="the weight file to take, where there are several")
    parser.add_argument("--yes", action="store_true", help="fetch without being asked")
    _add_json(parser)


def _add_outputs(parser: Any) -> None:
    parser.add_argument("--figure", type=Path, metavar="F", help="a picture: .svg, .pdf or .png")
    parser.add_argument("--table", type=Path, metavar="F", help="a row a word: .csv or .parquet")
    parser.add_argument("--overwrite", action="store_true", help="replace files that exist")
    figure = parser.add_argument_group(
        "the figure", "what is not given is as in the session's last figure, else as in brackets"
    )
    figure.add_argument("--width", dest="width_mm", type=float, metavar="MM", help="(180)")
    figure.add_argument("--height", dest="height_mm", type=float, metavar="MM", help="(120)")
    figure.add_argument("--dpi", type=_whole, metavar="DPI", help="dots an inch of a .png (300)")
    figure.add_argument("--theme", choices=("paper", "dark"), help="(paper)")
    figure.add_argument("--font", metavar="FAMILY", help="a font of this computer (Inter)")
    figure.add_argument("--font-size", dest="font_size_pt", type=float, metavar="PT", help="(7)")
    figure.add_argument("--text", choices=("text", "outlines"), help="what texts are in .svg and .pdf (text)")
    figure.add_argument("--title", metavar="TEXT", help="the line above the picture; empty for none")
    figure.add_argument(
        "--show",
        dest="label_choice",
        choices=("auto", "words", "names", "selection", "none"),
        help="words and names, either, names and the selection's words, or none (auto: both)",
    )
    figure.add_argument("--legend", choices=("auto", "right", "below", "none"), help="where it stands (auto)")
    figure.add_argument("--no-legend", dest="legend", action="store_const", const="none", help="leave it out")
    figure.add_argument("--point-size", type=float, metavar="PT", help="diameter of a point (by their number)")
    figure.add_argument(
        "--caption", action=argparse.BooleanOptionalAction, default=None, help="write below how it was made"
    )


def _add_transform(parser: Any) -> None:
    parser.add_argument("--center", action="store_true", help="subtract the mean of the table")
    parser.add_argument("--remove-top", type=_whole, default=0, metavar="D", help="all-but-the-top: directions removed")
    parser.add_argument("--normalize", action="store_true", help="rows of unit length")


def _add_json(parser: Any) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")


def _whole(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"“{text}” is not a whole number") from None
    if abs(value) > _LARGEST:
        raise argparse.ArgumentTypeError(f"“{text}” is too large a number")
    return value


# What each command does


def _open_window(options: argparse.Namespace) -> int:
    path = options.path
    if path is not None and path.endswith(".kiru") and not Path(path).exists():
        raise UserError(f"{path} does not exist; give the path of a session or a model.")
    try:
        from kiruviz.ui.app import run
    except ImportError as error:
        raise UserError(f"The window cannot be opened ({error}); `make run` installs what Qt needs.") from error
    return run(path)


def _info(options: argparse.Namespace) -> int:
    from kiruviz.tasks.command_info import card_lines
    from kiruviz.tasks.spaces import open_model

    with _progress(options) as progress:
        card = open_model(progress, options.model).card
    if options.json:
        _print_json(card.to_json())
    else:
        _print_pairs(card_lines(card))
    return 0


def _neighbors(options: argparse.Namespace) -> int:
    from kiruviz.tasks import spaces

    model, kind, transform = options.model, options.kind, _transform(options)
    with _progress(options) as progress:
        spaces.open_model(progress, model)
        row = spaces.find_row(model, options.token, options.id)
        token = spaces.token_text(model, row)
        found = spaces.neighbors(progress, model, kind, transform, (row,), token, options.metric, options.k)
    if options.json:
        _print_json(
            {
                "token_id": row,
                "token": token,
                "metric": found.metric,
                "transform": found.transform.describe(),
                "random_pair_cosine": found.baseline,
                "neighbors": [asdict(n) for n in found.neighbors],
            }
        )
        return 0
    print(f"Nearest to “{display_name(token)}”, row {row}; {transform.describe()}")
    rows = [(display_name(n.token), f"{n.score:.6f}", str(n.token_id)) for n in found.neighbors]
    _print_table(("token", found.metric, "row"), rows)
    if found.baseline is not None:
        print(f"Mean cosine of random pairs: {found.baseline:.4f}")
    spaced = None if options.id else spaces.spaced_row(model, row)
    if spaced is not None:
        print(f"With a leading space it is another token: kiruviz neighbors {model} {spaced} --id")
    return 0


def _map(options: argparse.Namespace) -> int:
    from kiruviz.figures.spec import FigureSpec
    from kiruviz.tasks.command_map import MapOrder, make_map

    order = MapOrder(
        model=options.model,
        kind=options.kind,
        words=options.words,
        whole=options.all,
        pieces=options.pieces,
        transform=_transform(options),
        method=options.method,
        params=tuple(options.param),
        cluster_method=options.cluster_method,
        cluster_metric=options.cluster_metric,
        cluster_params=tuple(options.cluster_param),
        clusters=options.clusters,
        seed=options.seed,
        session=options.session,
        figure=options.figure,
        table=options.table,
        overwrite=options.overwrite,
        spec=FigureSpec(**_figure_changes(options)),
    )
    with _progress(options) as progress:
        summary = make_map(progress, order)
    if options.json:
        _print_json(summary.to_json())
        return 0
    print(summary.sentence())
    rows = [(str(c.cluster_id), str(c.size), ", ".join(map(display_name, c.nearest))) for c in summary.clusters]
    _print_table(("cluster", "rows", "nearest its centre"), rows)
    for line in (*summary.notes, *(f"wrote {path}" for path in summary.written)):
        print(line)
    return 0


def _export(options: argparse.Namespace) -> int:
    from kiruviz.tasks import exports, remake, vector_exports

    order = exports.ExportOrder(
        source=options.source,
        view=options.view,
        figure=options.figure,
        table=options.table,
        labels=options.labels,
        overwrite=options.overwrite,
        changes=_figure_changes(options),
        whole=options.whole,
        model=options.model,
    )
    again = options.source.suffix.lower() in exports.FIGURE_SUFFIXES
    targets = {name: getattr(options, name) for name in vector_exports.TARGETS if getattr(options, name) is not None}
    vector_exports.check_targets(options.source, targets, options.overwrite)
    with _progress(options) as progress:
        done = exports.Exported(())
        if order.figure or order.table or order.labels or not targets:
            done = remake.export_again(progress, order) if again else exports.export(progress, order)
        also = [
            vector_exports.export_vectors(progress, str(options.source), target, str(path), options.overwrite)
            for target, path in targets.items()
        ]
    done = replace(done, written=(*done.written, *also))
    if options.json:
        _print_json({"written": done.written} | ({"notes": done.notes} if again else {}))
    else:
        for line in (*(f"wrote {path}" for path in done.written), *done.notes):
            print(line)
    return 0


def _labels(options: argparse.Namespace) -> int:
    from kiruviz.tasks import command_labels
    from kiruviz.tasks.label_merge import COMPARED

    order = command_labels.LabelsOrder(options.a, options.b, options.merge, options.prefer, options.overwrite)
    with _progress(options) as progress:
        summary = command_labels.run(progress, order)
    if options.json:
        _print_json(summary.to_json())
        return 0
    print(summary.comparison.sentence(("a", "b")))
    print(f"{summary.comparison.same} labelled alike; {COMPARED}.")
    if rows := summary.rows():
        _print_table(("a", "b", "label in a", "label in b", "difference", "overlap", "rows"), rows)
    for line in (*summary.notes, *(f"wrote {path}" for path in summary.written)):
        print(line)
    return 0


def _figure_changes(options: argparse.Namespace) -> dict[str, Any]:
    """The settings of the figure that were given, by their names in `FigureSpec`."""
    names = ("width_mm", "height_mm", "dpi", "theme", "font", "font_size_pt", "text", "title", "legend", "point_size")
    given = {name: getattr(options, name) for name in (*names, "caption")} | {"labels": options.label_choice}
    return {name: value for name, value in given.items() if value is not None}


def _models(options: argparse.Namespace) -> int:
    from kiruviz.models.hub import megabytes
    from kiruviz.tasks.fetching import local_models

    with _progress(options) as progress:
        found = local_models(progress)
    if options.json:
        _print_json(found.to_json())
        return 0
    rows = [(one.title, one.kind, megabytes(one.size), one.place, one.ref) for one in found.models]
    _print_table(("model", "kind", "size", "place", "open it with"), rows)
    for left_out in found.skipped:
        print(f"Not listed: {left_out.what} ({left_out.place}): {left_out.reason}")
    return 0


def _fetch(options: argparse.Namespace) -> int:
    from kiruviz.models.hub import megabytes
    from kiruviz.tasks import fetching

    if options.look and options.file:
        raise UserError("--file names a file to download; leave it out to look.")
    with _progress(options) as progress:
        plan = fetching.plan_fetch(progress, options.name, options.look, options.file)
    if not _agreed(options, plan):
        print("Nothing was fetched.")
        return 0
    with _progress(options) as progress:
        fetched = fetching.fetch(progress, plan)
    if options.json:
        _print_json(plan.to_json() | {"received": fetched.received, "folder": str(fetched.folder)})
        return 0
    print(f"{plan.name} is here, {megabytes(fetched.received)} came over the network: kiruviz info {options.name}")
    return 0


def _agreed(options: argparse.Namespace, plan: Any) -> bool:
    """The size, and the person's word for it: given by --yes, by answering, or not needed as all is here."""
    from kiruviz.models.hub import megabytes

    ask = not options.yes and plan.missing > 0
    if ask and (options.json or not sys.stdin.isatty()):
        raise UserError(f"{plan.sentence()} into {plan.folder}; add --yes to go ahead.")
    if not options.json:
        _print_table(("file", "size"), [(path, megabytes(size)) for path, size in plan.files])
        print(f"{plan.sentence()} into {plan.folder}.")
    return not ask or input("Go ahead? [y/N] ").strip().lower() in ("y", "yes")


def _transform(options: argparse.Namespace) -> Any:
    from kiruviz.space import Transform

    if options.remove_top < 0:
        raise UserError(f"--remove-top must be 0 or more, not {options.remove_top}.")
    return Transform(options.center, options.remove_top, options.normalize)


# Printing


class TerminalProgress:
    """Progress on stderr, on one line, where a person looks on."""

    def __init__(self) -> None:
        self._width = 0

    def report(self, fraction: float | None, message: str) -> None:
        share = "" if fraction is None else f" {fraction:.0%}"
        text = f"{message}{share}"
        sys.stderr.write(f"\r{text.ljust(self._width)}")
        sys.stderr.flush()
        self._width = len(text)

    def partial(self, value: object) -> None:
        """Nobody looks at partial results here."""

    def check(self) -> None:
        """Ctrl+C interrupts by itself."""

    def clear(self) -> None:
        if self._width:
            sys.stderr.write(f"\r{' ' * self._width}\r")
            self._width = 0


@contextmanager
def _progress(options: argparse.Namespace) -> Iterator[Any]:
    """Progress for a terminal, wiped away at the end; none where nobody looks on."""
    from kiruviz.progress import Silent

    if options.json or not sys.stderr.isatty():
        yield Silent()
        return
    progress = TerminalProgress()
    try:
        yield progress
    finally:
        progress.clear()


def _print_json(values: dict[str, Any]) -> None:
    print(json.dumps(values, ensure_ascii=False))


def _print_pairs(values: dict[str, str]) -> None:
    width = max(map(len, values))
    for name, value in values.items():
        print(f"{name.ljust(width)}  {value}")


def _print_table(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(len(r[i]) for r in [headings, *rows]) for i in range(len(headings))]
    for line in [headings, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
