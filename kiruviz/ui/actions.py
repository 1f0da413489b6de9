"""Every action of the window, as data: menus, toolbar and shortcuts are made from this one list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

if TYPE_CHECKING:
    from kiruviz.ui.commands import Commands

_NO_MAP = "no map yet"
# A submenu, the menu it stands in, and the action it stands before.
SUBMENUS = (("Views", "View", "manage_views"),)
MENUS = ("File", "Edit", "View", "Model", "Map", "Labels", "Window", "Help")


@dataclass(frozen=True)
class Action:
    """One thing a person can do.

    name       stable identifier
    title      what menus and buttons say
    menu       which menu it stands in; a new `group` there starts after a line
    run        what it does, given the window's Commands
    key        its shortcut in Qt's portable notation; `label_key` ones work where clusters or the map have the focus
    also       a fixed key of the panes that does the same, for the menu to show
    needs      what is missing where the action is not possible now
    submenu    a menu inside the menu that it stands in, with others of its group
    group      actions of one group stand together; of those that are a `choice` one is checked
    """

    name: str
    title: str
    menu: str
    run: Callable[[Commands], object]
    key: str = ""
    group: str = ""
    label_key: bool = False
    choice: bool = False
    tip: str = ""
    also: str = ""
    needs: str = ""
    submenu: str = ""


def _view_slot(number: int) -> Action:
    """One of the first nine saved views, whose name it bears while there is one."""
    return Action(
        f"view_{number}", f"Saved view {number}", "Views", lambda c: c.views.go_to_place(number), f"Ctrl+Alt+{number}"
    )


ACTIONS: tuple[Action, ...] = (
    Action("new", "New session", "File", lambda c: c.new_session(), "Ctrl+N", "session"),
    Action("open_session", "Open session…", "File", lambda c: c.open_session(), "Ctrl+Shift+O", "session"),
    Action("save", "Save", "File", lambda c: c.save(), "Ctrl+S", "save"),
    Action("save_as", "Save as…", "File", lambda c: c.save_as(), "Ctrl+Shift+S", "save"),
    Action("export_figure", "Export figure…", "File", lambda c: c.export_figure(), "Ctrl+E", "export", needs=_NO_MAP),
    Action(
        "export_table", "Export table…", "File", lambda c: c.export_table(), "Ctrl+Shift+E", "export", needs=_NO_MAP
    ),
    Action(
        "export_labels", "Export labels…", "File", lambda c: c.export_labels(), "Ctrl+Alt+E", "export", needs=_NO_MAP
    ),
    Action("export_vectors", "Export vectors…", "File", lambda c: c.export_vectors(), "", "export", needs=_NO_MAP),
    Action("export_curve", "Export curve…", "File", lambda c: c.export_curve(), "", "export"),
    Action("quit", "Quit", "File", lambda c: c.quit(), "Ctrl+Q", "quit"),
    Action("undo", "Undo", "Edit", lambda c: c.undo(), "Ctrl+Z", "undo", needs="nothing to undo"),
    Action("redo", "Redo", "Edit", lambda c: c.redo(), "Ctrl+Shift+Z", "undo", needs="nothing to redo"),
    Action("find", "Find a token…", "Edit", lambda c: c.find(), "Ctrl+F", "find"),
    Action("copy_map", "Copy map as Python", "Edit", lambda c: c.copy_python("map"), "", "python"),
    Action("copy_clusters", "Copy clusters as Python", "Edit", lambda c: c.copy_python("clusters"), "", "python"),
    Action("copy_neighbors", "Copy neighbours as Python", "Edit", lambda c: c.copy_python("neighbors"), "", "python"),
    Action("zoom_in", "Zoom in", "View", lambda c: c.zoom(1.25), "Ctrl+=", "zoom"),
    Action("zoom_out", "Zoom out", "View", lambda c: c.zoom(0.8), "Ctrl+-", "zoom"),
    Action("fit", "Fit", "View", lambda c: c.fit(), "Ctrl+0", "zoom", tip="Show the whole map"),
    Action("command_palette", "Command palette", "View", lambda c: c.command_palette(), "Ctrl+K", "palette"),
    Action("save_view", "Save this view…", "View", lambda c: c.views.save(), "Ctrl+Shift+D", "views", needs=_NO_MAP),
    Action("manage_views", "Manage views…", "View", lambda c: c.views.manage(), "", "views", needs="no view saved"),
    Action("theme_system", "Theme of the system", "View", lambda c: c.choose_theme("system"), "", "theme", choice=True),
    Action("theme_dark", "Dark theme", "View", lambda c: c.choose_theme("dark"), "", "theme", choice=True),
    Action("theme_light", "Light theme", "View", lambda c: c.choose_theme("light"), "", "theme", choice=True),
    Action("open_model", "Open a model folder…", "Model", lambda c: c.open_model_folder(), "Ctrl+O", "open"),
    Action("models", "Models on this computer…", "Model", lambda c: c.list_models(), "Ctrl+Shift+M", "open"),
    Action("open_smollm2", "SmolLM2-135M-Instruct", "Model", lambda c: c.open_model("smollm2"), "", "starters"),
    Action("open_minilm", "all-MiniLM-L6-v2", "Model", lambda c: c.open_model("minilm"), "", "starters"),
    Action(
        "pan",
        "Pan",
        "Map",
        lambda c: c.set_tool("pan"),
        "Ctrl+1",
        "tool",
        choice=True,
        tip="Drag the map, scroll to zoom",
    ),
    Action(
        "lasso",
        "Lasso",
        "Map",
        lambda c: c.set_tool("lasso"),
        "Ctrl+2",
        "tool",
        choice=True,
        tip="Draw around rows; Shift adds, Alt takes away",
    ),
    Action("draw", "Draw and cluster", "Map", lambda c: c.draw(), "Ctrl+R", "draw"),
    Action("color_cluster", "Colour by cluster", "Map", lambda c: c.color_by("cluster"), "", "color", choice=True),
    Action("color_norm", "Colour by norm", "Map", lambda c: c.color_by("norm"), "", "color", choice=True),
    Action(
        "color_frequency", "Colour by frequency", "Map", lambda c: c.color_by("frequency"), "", "color", choice=True
    ),
    Action("color_kind", "Colour by token kind", "Map", lambda c: c.color_by("kind"), "", "color", choice=True),
    Action("recolor", "Recolour the clusters", "Map", lambda c: c.recolor(False), "", "recolor"),
    Action("recolor_all", "Recolour named ones too", "Map", lambda c: c.recolor(True), "", "recolor"),
    Action("cancel", "Cancel the running job", "Map", lambda c: c.cancel_job(), "Ctrl+.", "cancel"),
    Action("rename", "Name the cluster", "Labels", lambda c: c.rename(), "F2", "name", also="Enter"),
    Action("resist", "Resists naming", "Labels", lambda c: c.resist(), "R", "name", label_key=True),
    Action("unname", "Take the label away", "Labels", lambda c: c.unname(), "U", "name", label_key=True),
    Action("next_unnamed", "Next unnamed", "Labels", lambda c: c.next_unnamed(), "N", "next", label_key=True),
    Action("previous_cluster", "Previous cluster", "Labels", lambda c: c.step_cluster(-1), "Alt+Up", "next"),
    Action("next_cluster", "Next cluster", "Labels", lambda c: c.step_cluster(1), "Alt+Down", "next"),
    *(
        Action(
            f"suggestion_{n}",
            f"Suggestion {n}",
            "Labels",
            lambda c, n=n: c.take_suggestion(n),  # type: ignore[misc]
            f"Alt+{n}",
            "suggest",
            submenu="Take a suggestion",
        )
        for n in range(1, 6)
    ),
    Action("members", "List the members", "Labels", lambda c: c.list_members(), "L", "next", label_key=True),
    Action("sure_1", "Confidence 1", "Labels", lambda c: c.set_confidence(1), "1", "sure", label_key=True),
    Action("sure_2", "Confidence 2", "Labels", lambda c: c.set_confidence(2), "2", "sure", label_key=True),
    Action("sure_3", "Confidence 3", "Labels", lambda c: c.set_confidence(3), "3", "sure", label_key=True),
    Action("merge", "Merge the selected clusters", "Labels", lambda c: c.merge(), "M", "shape", label_key=True),
    Action("split", "Split the cluster", "Labels", lambda c: c.split(), "S", "shape", label_key=True),
    Action(
        "set_aside", "Set the lassoed rows aside", "Labels", lambda c: c.set_aside(), "Del", "shape", label_key=True
    ),
    Action("import_labels", "Import labels…", "Labels", lambda c: c.labels.import_labels(), "Ctrl+Alt+I", "files"),
    Action(
        "merge_labels",
        "Merge with another person's labels…",
        "Labels",
        lambda c: c.labels.merge_labels(),
        "Ctrl+Alt+M",
        "files",
    ),
    Action("names_report", "What became of the names…", "Labels", lambda c: c.labels.report(), "Ctrl+Shift+B", "sets"),
    Action("former_sets", "Former sets of names…", "Labels", lambda c: c.labels.former_sets(), "Ctrl+Shift+H", "sets"),
    Action("about_map", "What am I looking at?", "Help", lambda c: c.explain(), "F1", "help"),
    Action("shortcuts", "Keyboard shortcuts", "Help", lambda c: c.show_shortcuts(), "Ctrl+/", "help"),
    *(_view_slot(number) for number in range(1, 10)),
    Action("about", "About KiruViz", "Help", lambda c: c.about(), "", "about"),
)


class ActionSet:
    """The QActions of a window, by name."""

    def __init__(self, commands: Commands, window: QWidget) -> None:
        self._actions: dict[str, QAction] = {}
        groups: dict[str, QActionGroup] = {}
        for spec in ACTIONS:
            action = QAction(spec.title, window)
            action.setObjectName(spec.name)
            action.setCheckable(spec.choice)
            if spec.label_key:
                action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            if spec.choice:
                group = groups.setdefault(spec.group, QActionGroup(window))
                group.addAction(action)
            action.triggered.connect(lambda _=False, run=spec.run: run(commands))
            self._actions[spec.name] = action
        self.set_keys({spec.name: spec.key for spec in ACTIONS}.__getitem__)

    def set_keys(self, key_of: Callable[[str], str]) -> None:
        """Give every action the key `key_of` its name; tips and menus say it."""
        for spec in ACTIONS:
            action, sequence = self._actions[spec.name], QKeySequence(key_of(spec.name))
            action.setShortcut(sequence)
            shown = sequence.toString(QKeySequence.SequenceFormat.NativeText)
            if spec.tip:
                action.setToolTip(f"{spec.tip} ({shown})" if shown else spec.tip)
            if spec.also:
                action.setText(f"{spec.title}\t{', '.join(key for key in (spec.also, shown) if key)}")

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def label_keys(self) -> list[QAction]:
        """The actions whose keys work only where clusters or the map have the focus."""
        return [self._actions[spec.name] for spec in ACTIONS if spec.label_key]

    def fill(self, bar: QMenuBar) -> dict[str, QMenu]:
        """Make the menus; those by name are returned so that lists of files and docks can be added."""
        menus = {name: QMenu(name, bar) for name in MENUS}
        for name, menu in menus.items():
            group = None
            inner: QMenu | None = None
            for spec in (spec for spec in ACTIONS if spec.menu == name):
                if group is not None and spec.group != group:
                    menu.addSeparator()
                if spec.submenu and spec.group != group:
                    inner = menu.addMenu(spec.submenu)
                group = spec.group
                (inner if spec.submenu and inner is not None else menu).addAction(self._actions[spec.name])
            bar.addMenu(menu)
        for name, parent, before in SUBMENUS:
            menu = QMenu(name, bar)
            menu.addActions([self._actions[spec.name] for spec in ACTIONS if spec.menu == name])
            menus[parent].insertMenu(self._actions[before], menu)
            menus[name] = menu
        return menus
