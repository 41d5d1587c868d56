"""The commands of the Graph menu: what is drawn of the graph, its modules, what depends on what, bookmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gui.commands.command import Command, has_model
from gui.output.picture_export import export_dialog

if TYPE_CHECKING:
    from gui.window.main_window import MainWindow

MENU = "Graph"
ON_BACKGROUND = ("show_horizontal", "show_weights", "show_names", "export_picture")
"""What the menu of the canvas itself offers besides, by the commands' names."""


def _has_modules(window: MainWindow) -> bool:
    return window.canvas.modules.tree is not None


def _has_selection(window: MainWindow) -> bool:
    return window.document.selection is not None


def _flag(name: str, text: str, key: str = "", *, separated: bool = False) -> Command:
    """A command that turns an option of the drawing on and off."""

    def turn(window: MainWindow) -> None:
        window.canvas.set_options(**{name: not getattr(window.canvas.options, name)})

    return Command(f"show_{name}", MENU, text, turn, [key] if key else (),
                   checked=lambda w: bool(getattr(w.canvas.options, name)), separated=separated)  # fmt: skip


def _choice(name: str, value: Any, text: str, *, separated: bool = False) -> Command:
    """A command that gives an option of the drawing one of its values."""
    return Command(f"{name}_{value}", MENU, text, lambda w: w.canvas.set_options(**{name: value}), group=name,
                   checked=lambda w: getattr(w.canvas.options, name) == value, separated=separated)  # fmt: skip


def _level(level: int) -> Command:
    return Command(f"level_{level + 1}", MENU, f"Open Modules to Level {level + 1}",
                   lambda w: w.canvas.modules.open_to_level(level + 1), enabled=_has_modules)  # fmt: skip


GRAPH_COMMANDS = (
    Command("grouped", MENU, "Show &Modules as Boxes", lambda w: w.canvas.modules.set_shown(not w.canvas.modules.shown),
            ["Ctrl+G"], _has_modules, checked=lambda w: w.canvas.modules.shown),
    Command("expand_all", MENU, "&Open All Modules", lambda w: w.canvas.modules.open_all(), ["Ctrl+Shift+G"],
            _has_modules),
    Command("collapse_all", MENU, "&Close All Modules", lambda w: w.canvas.modules.close_all(), ["Ctrl+Alt+G"],
            _has_modules),
    _level(0),
    _level(1),
    Command("reveal_hidden", MENU, "Open the Modules Around the Selection", lambda w: w.canvas.reveal_hidden(),
            ["Ctrl+E"], lambda w: _has_modules(w) and _has_selection(w)),

    _flag("horizontal", "Flow to the &Right", "Ctrl+K", separated=True),
    _flag("chips", "Names Instead of Long Lines", "Ctrl+L"),
    _flag("weights", "Show &Weights", "Ctrl+I"),
    _flag("names", "Show Node &Names", "Ctrl+U"),
    _flag("modules", "Show Module Paths"),
    _flag("netron", "&Netron's Colours and Titles"),
    _flag("hide_casts", "Hide Casts and Identities", separated=True),
    _flag("hide_qdq", "Hide Quantising and Dequantising"),
    _flag("hide_shapes", "Hide Arithmetic on Shapes"),
    _choice("attributes", "none", "No Attributes", separated=True),
    _choice("attributes", "telling", "Attributes That Matter"),
    _choice("attributes", "all", "All Attributes"),
    _choice("label", "shape", "Lines With Shapes", separated=True),
    _choice("label", "dtype", "Lines With Element Types and Shapes"),
    _choice("label", "name", "Lines With Names"),
    _choice("label", "both", "Lines With Names and Shapes"),

    Command("upstream", MENU, "What the Selection &Depends On", lambda w: w.canvas.canvas.light_cone(True, False),
            ["Ctrl+Shift+U"], _has_selection, separated=True),
    Command("downstream", MENU, "What Depends on the &Selection", lambda w: w.canvas.canvas.light_cone(False, True),
            ["Ctrl+Shift+D"], _has_selection),
    Command("only_matches", MENU, "Dim All but What Was &Found", lambda w: w.canvas.light_found(), ["Ctrl+Shift+L"],
            lambda w: bool(w.document.finder.items)),
    Command("show_all", MENU, "Show &All Again", lambda w: w.canvas.canvas.light(None)),
    Command("bookmark", MENU, "Set or Remove &Bookmark", lambda w: w.marks.toggle(), ["Ctrl+B"], has_model,
            separated=True),
    Command("next_bookmark", MENU, "Next Bookmark", lambda w: w.document.bookmarks.go(1), ["F2"], has_model),
    Command("previous_bookmark", MENU, "Previous Bookmark", lambda w: w.document.bookmarks.go(-1), ["Shift+F2"],
            has_model),
)  # fmt: skip


EXPORT_COMMANDS = (
    Command("export_picture", "File", "Export &Picture…", lambda w: export_dialog(w.canvas, w.document),
            ["Ctrl+Shift+E"], has_model, separated=True),
    Command("export_view", "File", "Export &View…",
            lambda w: export_dialog(w.canvas, w.document, view_only=True), (), has_model),
)  # fmt: skip
