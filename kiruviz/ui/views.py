"""Views saved by name: saving one, going back to it, and the list of them."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kiruviz.errors import UserError
from kiruviz.session.store import Session
from kiruviz.tasks.saved_views import SavedView, Shown, named_views, shown_by
from kiruviz.ui.keys import keymap
from kiruviz.ui.map.colouring import COLOR_BY
from kiruviz.ui.views_dialogs import SaveViewDialog, ViewsDialog
from kiruviz.ui.widgets.basics import plain_caption

if TYPE_CHECKING:
    from kiruviz.ui.window import MainWindow

SLOTS = 9
_COLORS = dict(COLOR_BY)


class ViewCommands:
    """The verbs for saved views. Each may be called at any time; what is not possible now says why."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._settled = False
        self._extra: list[Any] = []

    @property
    def _session(self) -> Session | None:
        return self._window.document.session

    def names(self) -> list[str]:
        """The views in the order of their list."""
        return list(named_views(self._session)) if self._session is not None else []

    def listed(self) -> list[tuple[str, str, str]]:
        """Name, what it shows, and its key, for each view."""
        session = self._session
        if session is None:
            return []
        views = named_views(session).items()
        return [
            (name, describe(session, view), keymap().shown(f"view_{at}") if at <= SLOTS else "")
            for at, (name, view) in enumerate(views, 1)
        ]

    # Saving

    def save(self) -> None:
        """Ask for a name and save how the map is looked at now."""
        if self.possible():
            dialog = SaveViewDialog(self._window, self, describe(self._existing(), self.now()))
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

    def possible(self) -> bool:
        """Whether there is a view to save now; if not, says why."""
        document = self._window.document
        if self._session is None or document.coords is None:
            self._window.tell("There is no map to save a view of yet.")
        elif not self._settled:
            self._window.tell("The map is still being drawn; save the view when its places are final.")
        else:
            return True
        return False

    def _existing(self) -> Session:
        assert self._session is not None
        return self._session

    def now(self) -> SavedView:
        """How the map is looked at now."""
        document, look = self._window.document, self._window.map_pane.view()
        labels, cluster = document.labels, document.cluster
        method, params = document.projection or ("", None)
        members = labels.members(cluster.cluster_id) if labels is not None and cluster is not None else np.zeros(0, int)
        return SavedView(
            color_by=look.color_by,
            rectangle=look.rectangle,
            space_id=document.space_id,
            method=method,
            params=params,
            set_id=labels.set_id if labels is not None else None,
            cluster_id=cluster.cluster_id if cluster is not None else None,
            cluster_name=cluster.name if cluster is not None and cluster.status == "named" else "",
            members=tuple(members.tolist()),
            lasso=tuple(document.lassoed.tolist()),
            focus=document.focus,
            time=time.time(),
        )

    def put(self, name: str) -> None:
        """Save the view of now by `name`; one of that name keeps its place. Raises UserError if it cannot be kept."""
        session = self._existing()
        views = named_views(session)
        last = max((view.place for view in views.values()), default=0)
        place = views[name].place if name in views else last + 1
        session.save_view(name, replace(self.now(), place=place).to_json())
        self.refresh()
        self._window.tell(f"Saved the view “{name}”.")

    def rename(self, name: str, to: str) -> None:
        """Give a view another name, in place of a view that has it."""
        session = self._existing()
        if name != to:
            session.save_view(to, session.saved_views[name])
            session.delete_view(name)
            self.refresh()

    def delete(self, name: str) -> None:
        self._existing().delete_view(name)
        self.refresh()

    def manage(self) -> None:
        """Open the list of views."""
        if not self.names():
            self._window.tell("No view is saved yet.")
            return
        dialog = ViewsDialog(self._window, self)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    # Going there

    def go_to_place(self, place: int) -> None:
        """Go to one of the first views, counted from 1."""
        names = self.names()
        if place <= len(names):
            self.go_to(names[place - 1])
        else:
            self._window.tell(f"There is no saved view {place}.")

    def go_to(self, name: str) -> None:
        """Show the rows, places, colours and selection of a view, and fly to it."""
        session, window = self._session, self._window
        if session is None or name not in session.saved_views:
            window.tell(f"There is no view named “{name}”.")
            return
        view = SavedView.of(session.saved_views[name])
        try:
            shown = shown_by(session, view)
            if shown is not None:
                self._show(view, shown, name)
        except UserError as error:
            window.show_sentence(str(error))

    def _show(self, view: SavedView, shown: Shown, name: str) -> None:
        window, document = self._window, self._window.document
        if shown.space_id != document.space_id:
            window.conductor.cancel_drawing()  # it would draw over the rows we go to
            if shown.labels is not None and shown.labels is not self._existing().labels:
                document.restore_set(shown.labels.set_id)
            document.show_kept(shown.space_id)
        if shown.projection is not None and shown.projection.coords is not document.coords and not self._at(shown):
            window.runner.cancel("projection")
            document.show_projection(shown.projection)
        said = [f"View “{name}”."]
        by = view.color_by if view.color_by in _COLORS else "cluster"
        window.map_pane.set_color_by(cast(Any, by))
        said += self._select(view)
        canvas = window.map_pane.canvas
        if view.rectangle is None or not shown.same_places:
            canvas.fit()
        else:
            canvas.fly_to_rectangle(view.rectangle)
        if not shown.same_places:
            said.append("The places it was made on are gone, so the whole map is shown.")
        window.tell(" ".join(said))

    def _at(self, shown: Shown) -> bool:
        """Whether the map stands where the view wants it."""
        document, kept = self._window.document, shown.projection
        return self._settled and kept is not None and document.projection == (kept.method, kept.params)

    def _select(self, view: SavedView) -> list[str]:
        """Select what the view had selected; what is to be said where that is not as it was."""
        document = self._window.document
        labels, record = document.labels, document.record
        rows = len(record) if record is not None else 0
        cluster_id, lasso, said = None, [r for r in view.lasso if r < rows], []
        if view.cluster_id is not None:
            cluster_id, sentence = self._cluster(view)
            said += [sentence] if sentence else []
            if cluster_id is None and not lasso:
                lasso = [r for r in view.members if r < rows]
        if labels is not None:
            document.select_cluster(cluster_id)
        document.set_lasso(np.array(lasso, np.int64))
        document.set_focus(view.focus if view.focus is not None and view.focus < rows else None)
        return said

    def _cluster(self, view: SavedView) -> tuple[int | None, str]:
        """The view's cluster among those of now: itself, else one of its name; and what is to be said about it."""
        labels = self._window.document.labels
        what = f"Its cluster “{view.cluster_name}”" if view.cluster_name else f"Its cluster {view.cluster_id}"
        if labels is None:
            return None, f"{what} is gone; its rows are selected instead."
        if labels.set_id == view.set_id and view.cluster_id in labels.clusters:
            return view.cluster_id, ""
        named = [c.cluster_id for c in labels.clusters.values() if view.cluster_name and c.name == view.cluster_name]
        if named:
            return named[0], "" if labels.set_id == view.set_id else f"{what} is the one of that name now."
        return None, f"{what} is not among the clusters now; its rows are selected instead."

    # Menu

    def places_changed(self, final: bool) -> None:
        self._settled = final
        self.refresh()

    def refresh(self) -> None:
        """The menu lists the views; the first nine have keys."""
        window, names = self._window, self.names()
        menu = window.menus["Views"]
        for action in self._extra:
            menu.removeAction(action)
            action.deleteLater()
        self._extra = []
        for at in range(1, SLOTS + 1):
            action = window.actions_by_name[f"view_{at}"]
            action.setVisible(at <= len(names))
            action.setText(plain_caption(names[at - 1]) if at <= len(names) else f"Saved view {at}")
        for name in names[SLOTS:]:
            action = menu.addAction(plain_caption(name))
            action.triggered.connect(lambda _=False, name=name: self.go_to(name))
            self._extra.append(action)
        menu.setEnabled(bool(names))
        window.actions_by_name["manage_views"].setEnabled(bool(names))
        window.actions_by_name["save_view"].setEnabled(window.document.coords is not None)


def describe(session: Session, view: SavedView) -> str:
    """What a view shows, in a few words."""
    parts = []
    if view.lasso:
        parts.append(f"{len(view.lasso):,} lassoed")
    elif view.cluster_id is not None:
        parts.append(f"“{view.cluster_name}”" if view.cluster_name else f"cluster {view.cluster_id}")
    parts.append("whole map" if view.rectangle is None else "part of the map")
    if view.color_by != "cluster":
        parts.append(f"by {_COLORS.get(view.color_by, view.color_by)}")  # type: ignore[call-overload]
    if view.space_id is not None:
        try:
            parts.append(session.space(view.space_id).recipe.rows.title)
        except KeyError:
            parts.append("rows that are gone")
    return " · ".join(parts)
