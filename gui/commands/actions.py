"""Every command of the window, as data: what it is called, where it stands, its keys, what it does, when it can."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QActionGroup, QKeySequence

from gui.commands.attachment import ATTACHMENT_COMMANDS, NEXT_NUMBER
from gui.commands.changes import CHANGE_COMMANDS, COMPARE_COMMANDS
from gui.commands.command import Command, has_model, has_picture
from gui.commands.go import GO_COMMANDS
from gui.commands.graph import EXPORT_COMMANDS, GRAPH_COMMANDS
from gui.commands.model import NETRON_COMMAND, SAVE_COMMANDS
from gui.commands.outside_weights import OUTSIDE_COMMAND
from gui.panes.compare import ComparePane
from gui.window.help import Shortcut, show_about, show_shortcuts

if TYPE_CHECKING:
    from gui.window.main_window import MainWindow

Key = QKeySequence.StandardKey


def _theme(mode: str, text: str, *, separated: bool = False) -> Command:
    return Command(f"theme_{mode}", "View", text, lambda w: w.set_theme_mode(mode), group="theme",
                   checked=lambda w: w.theme_mode == mode, separated=separated)  # fmt: skip


def _colour(mode: str, text: str, key: str, *, separated: bool = False) -> Command:
    return Command(f"colour_{mode}", "View", f"Colour by {text}", lambda w: w.set_colour_mode(mode), [key],
                   group="colour", checked=lambda w: w.colour_mode == mode, separated=separated)  # fmt: skip


def _show_first_divergence(window: MainWindow) -> None:
    pane = window.docks["compare"].widget()
    if isinstance(pane, ComparePane):
        pane.show_first()


MENUS = ("File", "Edit", "View", "Graph", "Go", "Run", "Help")

COMMANDS = (
    Command("open", "File", "&Open…", lambda w: w.open_dialog(), [Key.Open]),
    Command("open_new", "File", "Open in &New Window…", lambda w: w.open_dialog(new_window=True), ["Ctrl+Shift+O"]),
    Command("sample", "File", "Open &Sample", lambda w: w.open_sample()),
    Command("reload", "File", "&Reload", lambda w: w.document.reload(), ["Ctrl+R"], has_model),
    OUTSIDE_COMMAND,
    *COMPARE_COMMANDS,
    NETRON_COMMAND,
    *ATTACHMENT_COMMANDS,
    Command("save_values", "File", "&Save Tensor…", lambda w: w.save_values(), [Key.Save],
            lambda w: w.document.selection is not None, separated=True),
    *SAVE_COMMANDS,
    *EXPORT_COMMANDS,
    Command("close", "File", "&Close Window", lambda w: w.close(), [Key.Close], separated=True),
    Command("quit", "File", "&Quit", lambda w: w.quit(), [Key.Quit], role=QAction.MenuRole.QuitRole),

    Command("find", "Edit", "&Find…", lambda w: w.search.start(), [Key.Find], has_model),
    Command("find_next", "Edit", "Find &Next", lambda w: w.search.next(), ["F3"], has_model),
    Command("find_previous", "Edit", "Find &Previous", lambda w: w.search.previous(), ["Shift+F3"], has_model),
    Command("list_matches", "Edit", "&List Matches", lambda w: w.list_matches(), ["Ctrl+Shift+F"], has_model),
    Command("copy_name", "Edit", "&Copy Name", lambda w: w.copy_name(), ["Ctrl+Shift+C"],
            lambda w: w.document.selection is not None, separated=True),
    Command("clear_selection", "Edit", "Clear &Selection", lambda w: w.document.select(None), (),
            lambda w: w.document.selection is not None),

    Command("fit", "View", "&Fit Graph", lambda w: w.canvas.fit(), ["Ctrl+0"], has_picture),
    Command("full_size", "View", "Full Si&ze", lambda w: w.canvas.full_size(), ["Ctrl+1"], has_picture),
    Command("zoom_in", "View", "Zoom &In", lambda w: w.canvas.zoom_in(), [Key.ZoomIn, "Ctrl+="], has_picture),
    Command("zoom_out", "View", "Zoom &Out", lambda w: w.canvas.zoom_out(), [Key.ZoomOut], has_picture),
    Command("wheel_moves", "View", "Mouse Wheel &Moves the Graph",
            lambda w: w.canvas.set_wheel_moves(not w.canvas.wheel_moves), ["Ctrl+M"],
            checked=lambda w: w.canvas.wheel_moves),
    _colour("category", "Category", "Alt+1", separated=True),
    _colour("provider", "Provider", "Alt+2"),
    _colour("time", "Time", "Alt+3"),
    _colour("dtype", "Element Type", "Alt+4"),
    _colour("error", "Error", "Alt+5"),
    _colour("change", "Change", "Alt+6"),
    NEXT_NUMBER,
    _theme("system", "Theme of the System", separated=True),
    _theme("light", "Light Theme"),
    _theme("dark", "Dark Theme"),
    Command("next_pane", "View", "Ne&xt Pane", lambda w: w.pane_focus.step(1), ["F6"], separated=True),
    Command("previous_pane", "View", "Previous Pane", lambda w: w.pane_focus.step(-1), ["Shift+F6"]),
    Command("full_screen", "View", "F&ull Screen", lambda w: w.toggle_full_screen(), ["F11"],
            checked=lambda w: w.isFullScreen(), separated=True),
    Command("reset_layout", "View", "R&eset Layout", lambda w: w.reset_layout()),

    *GRAPH_COMMANDS,
    *GO_COMMANDS,
    *CHANGE_COMMANDS,

    Command("run", "Run", "&Run", lambda w: w.document.run_requested.emit(), ["F5"],
            lambda w: w.document.model is not None and not w.document.busy),
    Command("cancel", "Run", "&Cancel", lambda w: w.document.cancel(), ["Shift+F5"], lambda w: w.document.busy),
    Command("first_divergence", "Run", "First &Divergence", _show_first_divergence, ["F8"],
            lambda w: w.document.run is not None, separated=True),

    Command("shortcuts", "Help", "&Keyboard Shortcuts", lambda w: show_shortcuts(w, shortcuts()), ["F1"]),
    Command("about", "Help", "&About OInfer", show_about, role=QAction.MenuRole.AboutRole),
)  # fmt: skip


def build(window: MainWindow) -> dict[str, QAction]:
    """Make the window's actions and menus; the actions by their names."""
    menus = {title: window.menuBar().addMenu(f"&{title}") for title in MENUS}
    groups: dict[str, QActionGroup] = {}
    actions = {}
    for command in COMMANDS:
        menu = menus[command.menu]
        if command.separated:
            menu.addSeparator()
        action = QAction(command.text, window)  # not the menu's: where PySide lets go of a menu, its actions go with it
        menu.addAction(action)
        action.setShortcuts(_sequences(command.keys))
        action.setMenuRole(command.role)
        action.triggered.connect(lambda _checked=False, call=command.call: call(window))
        if command.checked:
            action.setCheckable(True)
            group = groups.setdefault(command.group, QActionGroup(window)) if command.group else None
            if group:
                group.addAction(action)
        actions[command.name] = action
    return actions


def refresh(window: MainWindow, actions: dict[str, QAction]) -> None:
    """Bring what can be done, and what is chosen, up to date."""
    for command in COMMANDS:
        if command.enabled:
            actions[command.name].setEnabled(command.enabled(window))
        if command.checked:
            actions[command.name].setChecked(command.checked(window))


def _sequences(keys: Sequence[QKeySequence.StandardKey | str]) -> list[QKeySequence]:
    found: list[QKeySequence] = []
    for key in keys:
        found += [QKeySequence(key)] if isinstance(key, str) else QKeySequence.keyBindings(key)
    return list(dict.fromkeys(found))  # what is named here may be among the platform's own


def shortcuts() -> list[Shortcut]:
    """Every command with a shortcut, the keys as this platform writes them."""
    found = []
    for command in COMMANDS:
        sequences = _sequences(command.keys)
        if sequences:
            keys = sequences[0].toString(QKeySequence.SequenceFormat.NativeText)
            found.append(Shortcut(keys, command.text.replace("&", "").rstrip("…"), command.menu))
    return found
