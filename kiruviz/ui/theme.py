"""The look: two themes, one type family, one accent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from kiruviz.palette import Ground
from kiruviz.paths import resource

ThemeChoice = Literal["system", "dark", "light"]

FONT_PX = 13
SMALL_PX = 12
SECTION_PX = 11
LEFT_WIDTH = 262
RIGHT_WIDTH = 316


@dataclass(frozen=True)
class Theme:
    """The colours of the interface. Data has colours of its own (`kiruviz.palette`)."""

    ground: Ground
    background: str
    panel: str
    raised: str
    line: str
    text: str
    muted: str
    accent: str
    on_accent: str
    selected: str
    warning: str
    good: str

    def color(self, name: str, alpha: int = 255) -> QColor:
        color = QColor(getattr(self, name))
        color.setAlpha(alpha)
        return color


DARK = Theme(
    ground="dark",
    background="#101318",
    panel="#171b22",
    raised="#1f242d",
    line="#2b313c",
    text="#e8ebf0",
    muted="#98a1b0",
    accent="#6cb2ff",
    on_accent="#0b1420",
    selected="#1d3350",
    warning="#f2a65a",
    good="#7fd491",
)
LIGHT = Theme(
    ground="light",
    background="#ffffff",
    panel="#f5f6f8",
    raised="#ffffff",
    line="#dde1e7",
    text="#1b1f26",
    muted="#5c6573",
    accent="#1464b4",
    on_accent="#ffffff",
    selected="#dbe9f8",
    warning="#a35200",
    good="#1f7a3d",
)


class ThemeKeeper(QObject):
    """Holds the theme in use and applies it to the application.

    changed(Theme) is emitted after the application's style was set.
    """

    changed = Signal(object)

    def __init__(self, app: QApplication, choice: ThemeChoice = "system") -> None:
        super().__init__()
        self._app = app
        self._choice: ThemeChoice = choice
        self.theme = DARK
        load_fonts(app)
        app.styleHints().colorSchemeChanged.connect(self._system_changed)
        self.choose(choice)

    @property
    def choice(self) -> ThemeChoice:
        return self._choice

    def choose(self, choice: ThemeChoice) -> None:
        self._choice = choice
        self.theme = self._resolve()
        self._app.setPalette(_palette(self.theme))
        self._app.setStyleSheet(style_sheet(self.theme))
        self.changed.emit(self.theme)

    def _resolve(self) -> Theme:
        if self._choice == "system":
            light = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Light
            return LIGHT if light else DARK
        return LIGHT if self._choice == "light" else DARK

    def _system_changed(self) -> None:
        if self._choice == "system":
            self.choose("system")


def load_fonts(app: QApplication) -> None:
    """Make Inter, which is shipped, the application's font; text then looks the same on every desk."""
    for file in sorted(resource("fonts").glob("*.ttf")):
        QFontDatabase.addApplicationFont(str(file))
    app.setFont(text_font())


def text_font(pixels: float = FONT_PX, weight: QFont.Weight = QFont.Weight.Normal, italic: bool = False) -> QFont:
    font = QFont("Inter")
    font.setPixelSize(round(pixels))
    font.setWeight(weight)
    font.setItalic(italic)
    font.setStyleHint(QFont.StyleHint.SansSerif)
    return font


def token_font(pixels: float = FONT_PX) -> QFont:
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPixelSize(round(pixels))
    return font


def _palette(theme: Theme) -> QPalette:
    palette = QPalette()
    role = QPalette.ColorRole
    for names, color in (
        ((role.Window, role.AlternateBase), theme.panel),
        ((role.Base, role.Button, role.ToolTipBase), theme.raised),
        ((role.WindowText, role.Text, role.ButtonText, role.ToolTipText, role.BrightText), theme.text),
        ((role.Highlight,), theme.selected),
        ((role.HighlightedText,), theme.text),
        ((role.PlaceholderText,), theme.muted),
        ((role.Link, role.Accent), theme.accent),
        ((role.Mid, role.Dark, role.Midlight), theme.line),
    ):
        for name in names:
            palette.setColor(name, QColor(color))
    for name in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, name, theme.color("muted", 140))
    return palette


def style_sheet(t: Theme) -> str:
    """The application's style sheet. Space stands on a 4 px grid, corners are 6 px, lines are hairlines."""
    arrow = resource("icons", f"chevron-{t.ground}.svg").as_posix()
    check = resource("icons", f"check-{t.ground}.svg").as_posix()
    return f"""
* {{ font-size: {FONT_PX}px; }}
QMainWindow, QDialog {{ background: {t.panel}; }}
QMainWindow::separator {{ background: {t.line}; width: 1px; height: 1px; }}
QMainWindow::separator:hover {{ background: {t.accent}; }}
QWidget#header {{ background: {t.panel}; border-bottom: 1px solid {t.line}; }}
QWidget#panel, QScrollArea#panel, QScrollArea#panel > QWidget > QWidget {{ background: {t.panel}; }}
QScrollArea {{ border: none; }}
QLabel {{ background: transparent; }}
QLabel[role="brand"] {{ font-size: 15px; font-weight: 600; }}
QLabel[role="section"] {{ font-size: {SECTION_PX}px; font-weight: 600; color: {t.muted}; }}
QLabel[role="title"] {{ font-size: 15px; font-weight: 600; }}
QLabel[role="muted"], QCheckBox[role="muted"] {{ color: {t.muted}; }}
QLabel[role="small"] {{ font-size: {SMALL_PX}px; color: {t.muted}; }}
QLabel[role="warning"] {{ font-size: {SMALL_PX}px; color: {t.warning}; }}
QFrame[role="hairline"] {{ background: {t.line}; max-height: 1px; min-height: 1px; border: none; }}
QMenuBar {{ background: transparent; color: {t.muted}; spacing: 0; }}
QMenuBar::item {{ padding: 6px 9px; border-radius: 6px; background: transparent; }}
QMenuBar::item:selected {{ background: {t.raised}; color: {t.text}; }}
QMenu {{ background: {t.raised}; border: 1px solid {t.line}; padding: 4px; }}
QMenu::item {{ padding: 6px 24px 6px 12px; border-radius: 4px; }}
QMenu::item:selected {{ background: {t.selected}; }}
QMenu::item:disabled {{ color: {t.muted}; }}
QMenu::separator {{ height: 1px; background: {t.line}; margin: 4px 8px; }}
QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox, QPlainTextEdit, QTextEdit {{
  background: {t.raised}; border: 1px solid {t.line}; border-radius: 6px; padding: 4px 8px; color: {t.text};
  selection-background-color: {t.accent}; selection-color: {t.on_accent}; min-height: 18px; }}
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus, QPlainTextEdit:focus {{
  border-color: {t.accent}; }}
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled {{ color: {t.muted}; }}
QLineEdit[invalid="true"] {{ border-color: {t.warning}; }}
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button {{
  width: 0; border: none; }}
QComboBox::drop-down {{ border: none; width: 22px; }}
QComboBox::down-arrow {{ image: url({arrow}); width: 10px; height: 10px; }}
QComboBox QAbstractItemView {{ background: {t.raised}; border: 1px solid {t.line}; padding: 4px; outline: none;
  selection-background-color: {t.selected}; selection-color: {t.text}; }}
QCheckBox {{ spacing: 8px; background: transparent; }}
QCheckBox::indicator {{ width: 14px; height: 14px; border: 1px solid {t.line}; border-radius: 4px;
  background: {t.raised}; }}
QCheckBox::indicator:checked {{ background: {t.accent}; border-color: {t.accent}; image: url({check}); }}
QCheckBox:focus {{ color: {t.accent}; }}
QPushButton {{ background: {t.raised}; border: 1px solid {t.line}; border-radius: 6px; padding: 4px 12px;
  min-height: 18px; color: {t.text}; }}
QPushButton:hover {{ border-color: {t.muted}; }}
QPushButton:focus {{ border-color: {t.accent}; }}
QPushButton:disabled {{ color: {t.muted}; }}
QPushButton[role="primary"] {{ background: {t.accent}; border-color: {t.accent}; color: {t.on_accent};
  font-weight: 600; }}
QPushButton[role="primary"]:disabled {{ background: {t.raised}; border-color: {t.line}; color: {t.muted}; }}
QPushButton[role="primary"]:focus {{ border-color: {t.text}; }}
QPushButton[role="chip"] {{ padding: 0; border-radius: 12px; min-height: 0; }}
QPushButton[role="link"], QToolButton[role="link"] {{ background: transparent; border: none; color: {t.accent};
  padding: 2px 0; text-align: left; }}
QPushButton[role="link"]:hover {{ text-decoration: underline; }}
QPushButton[role="link"]:focus {{ text-decoration: underline; }}
QPushButton[role="rest"] {{ background: transparent; border: none; color: {t.muted}; text-align: left;
    padding: 2px 0px; }}
QPushButton[role="rest"]:hover, QPushButton[role="rest"]:focus {{ color: {t.text}; text-decoration: underline; }}
QToolButton {{ background: transparent; border: 1px solid transparent; border-radius: 6px; padding: 5px 9px;
  color: {t.text}; }}
QToolButton:hover {{ background: {t.panel}; }}
QToolButton:checked {{ background: {t.selected}; color: {t.accent}; }}
QToolButton:focus {{ border-color: {t.accent}; }}
QFrame#toolbar, QFrame#card, QFrame#banner {{ background: {t.raised}; border: 1px solid {t.line};
  border-radius: 8px; }}
QFrame#sheet {{ background: {t.panel}; border: 1px solid {t.line}; border-radius: 8px; }}
QTableView, QListView {{ background: transparent; border: none; outline: none; gridline-color: transparent;
  selection-background-color: {t.selected}; selection-color: {t.text}; }}
QTableView::item {{ padding: 0 4px; border: none; }}
QFrame#card QListWidget::item {{ padding: 4px; border-radius: 4px; }}
QMainWindow > QTabBar {{ background: {t.panel}; border: none; qproperty-drawBase: 0; qproperty-elideMode: ElideNone; }}
QMainWindow > QTabBar::tab {{ background: transparent; border: none; border-bottom: 2px solid transparent;
  color: {t.muted}; padding: 5px 0 4px 0; margin: 0 4px 0 14px; font-size: {SMALL_PX}px; }}
QMainWindow > QTabBar::tab:selected {{ color: {t.text}; border-bottom-color: {t.accent}; }}
QMainWindow > QTabBar::tab:hover {{ color: {t.text}; }}
QHeaderView {{ background: transparent; border: none; }}
QHeaderView::section {{ background: transparent; border: none; color: {t.muted}; padding: 2px 4px;
  font-size: {SECTION_PX}px; }}
QScrollBar:vertical {{ background: transparent; width: 8px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: 8px; margin: 0; }}
QScrollBar::handle {{ background: {t.line}; border-radius: 4px; min-height: 24px; min-width: 24px; }}
QScrollBar::handle:hover {{ background: {t.muted}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QProgressBar {{ background: {t.line}; border: none; border-radius: 3px; max-height: 6px; min-height: 6px; }}
QProgressBar::chunk {{ background: {t.accent}; border-radius: 3px; }}
QStatusBar {{ background: {t.panel}; border-top: 1px solid {t.line}; color: {t.muted}; }}
QStatusBar::item {{ border: none; }}
QToolTip {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.line}; padding: 4px 6px; }}
QDockWidget {{ color: {t.muted}; }}
QSplitter::handle {{ background: {t.line}; }}
"""
