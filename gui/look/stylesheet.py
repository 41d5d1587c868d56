"""The Qt style sheet of a theme: hairlines, one accent colour, flat controls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QDir

import resources

if TYPE_CHECKING:
    from gui.look.theme import Theme

TAB_PADDING = 9  # px at both sides of a title

# Roles stand as @name; longer names come first where one begins another.
_TEMPLATE = """
QMainWindow, QDialog, QMenuBar, QMenu, QToolBar, QStatusBar, QDockWidget, QDockWidget > QWidget
    { background: @window; color: @text; }
QDialog[popup="true"] { border: 1px solid @neutral; }
QMainWindow::separator { background: @line; width: 1px; height: 1px; }
QMainWindow::separator:hover { background: @accent; }

QMenuBar { border-bottom: 1px solid @line; padding: 1px 4px; }
QMenuBar::item { padding: 4px 8px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: @hover; }
QMenu { border: 1px solid @line; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 12px; border-radius: 4px; }
QMenu::item:selected { background: @selection; }
QMenu::item:disabled { color: @faint; }
QMenu::separator { height: 1px; background: @line; margin: 4px 8px; }

QToolBar { border: none; border-bottom: 1px solid @line; spacing: 8px; padding: 6px 10px; }
QStatusBar { border-top: 1px solid @line; color: @muted; }
QStatusBar::item { border: none; }
QStatusBar QLabel { color: @muted; padding: 0 6px; }
QToolTip { background: @raised; color: @text; border: 1px solid @line; padding: 4px 6px; }

QPushButton, QToolButton { background: @field; color: @text; border: 1px solid @line; border-radius: 5px;
    padding: 4px 12px; }
QToolButton { padding: 4px 9px; }
QPushButton:hover, QToolButton:hover { border-color: @accent; }
QPushButton:pressed, QToolButton:pressed { background: @selection; }
QPushButton:focus, QToolButton:focus { border-color: @accent; }
QPushButton:disabled, QToolButton:disabled { color: @faint; border-color: @line; }
QPushButton[accent="true"] { background: @accent; color: @on_accent; border-color: @accent; font-weight: 600; }
QPushButton[accent="true"]:hover, QPushButton[accent="true"]:focus { border-color: @text; }
QPushButton[accent="true"]:disabled { background: @field; color: @faint; border-color: @line; }
QToolButton[flat="true"], QPushButton[flat="true"] { background: transparent; border: none; padding: 2px 4px;
    border-radius: 4px; }
QToolButton[flat="true"]:hover, QPushButton[flat="true"]:hover { background: @hover; color: @accent; }
QToolButton[flat="true"]:focus, QPushButton[flat="true"]:focus { color: @accent; background: @hover; }
QToolButton[current="true"] { color: @accent; }
QPushButton[role="error"] { color: @error; font-weight: 600; }
QPushButton[role="warning"] { color: @warning; font-weight: 600; }
QToolButton::menu-indicator { image: none; }
QPushButton[segment="true"] { border-radius: 0; border-left: none; padding: 4px 11px; background: @window; }
QPushButton[segment="true"]:checked { background: @selection; color: @accent; }
QPushButton[segment="first"] { border-radius: 0; border-top-left-radius: 5px; border-bottom-left-radius: 5px;
    padding: 4px 11px; background: @window; }
QPushButton[segment="first"]:checked { background: @selection; color: @accent; }
QPushButton[segment]:focus { border: 1px solid @accent; }

QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox, QPlainTextEdit { background: @field; color: @text;
    border: 1px solid @line; border-radius: 5px; padding: 3px 8px; selection-background-color: @selection;
    selection-color: @text; }
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus, QPlainTextEdit:focus
    { border-color: @accent; }
QLineEdit[invalid="true"], QSpinBox[invalid="true"], QComboBox[invalid="true"] { border-color: @error; }
QComboBox::drop-down { border: none; width: 18px; }
QComboBox::down-arrow { image: url(icons:down-@name.svg); width: 11px; height: 11px; }
QSpinBox, QDoubleSpinBox { padding-right: 18px; }
QSpinBox::up-button, QDoubleSpinBox::up-button { border: none; background: transparent; width: 16px;
    subcontrol-origin: border; subcontrol-position: top right; }
QSpinBox::down-button, QDoubleSpinBox::down-button { border: none; background: transparent; width: 16px;
    subcontrol-origin: border; subcontrol-position: bottom right; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: url(icons:up-@name.svg); width: 9px; height: 9px; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow { image: url(icons:down-@name.svg); width: 9px; height: 9px; }
QComboBox QAbstractItemView { background: @window; border: 1px solid @line; selection-background-color: @selection;
    selection-color: @text; }
QCheckBox, QRadioButton, QLabel { color: @text; }
QCheckBox:focus { color: @accent; }
QCheckBox::indicator, QAbstractItemView::indicator { width: 13px; height: 13px; background: @field;
    border: 1px solid @neutral; border-radius: 3px; }
QCheckBox::indicator:hover, QCheckBox::indicator:focus, QAbstractItemView::indicator:hover { border-color: @accent; }
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked { background: @accent; border-color: @accent;
    image: url(icons:check-@name.svg); }
QCheckBox::indicator:disabled, QAbstractItemView::indicator:disabled { border-color: @line; }
QLabel[role="muted"] { color: @muted; }
QLabel[role="heading"] { color: @muted; font-weight: 600; }
QLabel[role="error"] { color: @error; }
QLabel[role="good"] { color: @good; }
QLabel[role="warning"] { color: @warning; }

QDockWidget { border: 1px solid @line; }
QDockWidget > QWidget#pane { border-top: 1px solid @line; }
QTabBar { background: @window; qproperty-drawBase: 0; }
QTabBar::tab { background: @window; color: @muted; padding: 7px @tabpx 6px @tabpx; border: none;
    border-bottom: 2px solid transparent; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:selected { color: @text; border-bottom-color: @accent; }
QTabBar:focus::tab:selected { color: @accent; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QTabWidget::pane { border: none; border-top: 1px solid @line; }

QAbstractItemView { background: @window; color: @text; border: 1px solid transparent; outline: none;
    gridline-color: @line; selection-background-color: @selection; selection-color: @text; }
QAbstractItemView:focus { border-color: @accent; }
QAbstractItemView::item:selected { background: @selection; color: @text; }
QHeaderView { background: @window; border: none; }
QHeaderView::section { background: @window; color: @muted; border: none; border-bottom: 1px solid @line;
    padding: 5px 6px; }
QAbstractScrollArea::corner { background: @window; border: none; }
QHeaderView::section:vertical { border: none; padding: 0 6px; }
QTableCornerButton::section { background: @window; border: none; border-bottom: 1px solid @line; }
QGroupBox { border: none; margin-top: 18px; color: @muted; font-weight: 600; }
QGroupBox::title { subcontrol-origin: margin; left: 0; }
QSplitter::handle { background: @line; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }

QScrollBar:vertical { background: transparent; width: 11px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 0; }
QScrollBar::handle { background: @line; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: @neutral; }
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page
    { background: transparent; border: none; width: 0; height: 0; }
QProgressBar { background: @field; border: 1px solid @line; border-radius: 4px; height: 8px; color: @text;
    text-align: center; }
QProgressBar::chunk { background: @accent; border-radius: 3px; }

QFrame#messageBar { background: @field; border: none; border-bottom: 1px solid @line; border-left: 3px solid @error; }
QFrame#messageBar[severity="warning"] { border-left-color: @warning; }
QFrame#messageBar[severity="info"] { border-left-color: @accent; }
QWidget#centre, QWidget#emptyState { background: @canvas; }
QFrame#dropTarget { background: @window; border: 2px dashed @line; border-radius: 10px; }
QFrame#dropTarget[active="true"] { border-color: @accent; background: @selection; }
"""


def stylesheet(theme: Theme) -> str:
    """The style sheet with the theme's colours filled in."""
    QDir.setSearchPaths("icons", [str(resources.path("icons"))])  # Qt reads no sheet with a space in a path
    text = _TEMPLATE.replace("@tab", str(TAB_PADDING))
    for role in sorted(type(theme).__slots__, key=len, reverse=True):
        text = text.replace("@" + role, str(getattr(theme, role)))
    return text
