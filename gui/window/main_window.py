"""The window of one model: menus, toolbar, docks around the canvas, status bar, and what they are wired to."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QGuiApplication, QShowEvent
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QApplication,
    QDockWidget,
    QFileDialog,
    QMainWindow,
    QMenu,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

import resources
from engine.graph.ir import Tensor
from engine.providers import default_providers
from gui.centre.canvas_bookmarks import CanvasBookmarks
from gui.centre.canvas_view import CanvasView
from gui.commands import actions
from gui.commands import attachment as attachment_commands
from gui.commands import changes as change_commands
from gui.commands.attachment import NumbersMenu
from gui.commands.graph import ON_BACKGROUND
from gui.document import Document
from gui.look.theme import Theme, on_theme, theme_manager
from gui.output.netron import Netron
from gui.panes.problems import ProblemsPane
from gui.panes.run import RunPane
from gui.panes.tensor_viewer import TensorPane
from gui.panes.timings import TimingsPane
from gui.settings import Settings
from gui.widgets.bars import MessageBar
from gui.widgets.empty_state import EmptyState
from gui.widgets.search_box import SearchBox
from gui.window.docks import add_docks, arrange, set_corners
from gui.window.file_drop import MODEL_NAMES, FileDrop, told_apart
from gui.window.file_watch import FileWatch
from gui.window.held_back import HeldBack
from gui.window.mouse_history import MouseHistory
from gui.window.pane_focus import PaneFocus
from gui.window.recent_menu import RecentMenu
from gui.window.status_bar import StatusBar
from gui.window.toolbar import ToolBar
from gui.window.window_layout import WindowLayout

FILTER = f"ONNX models ({' '.join(f'*{end}' for end in MODEL_NAMES)});;All files (*)"


class MainWindow(QMainWindow):
    """One model's window. `window_wanted(path)` asks for another one, `comparison_wanted(path, other)` for one whose
    model is compared with another file; `closed()` says that this one is gone.
    """

    window_wanted = Signal(str)
    comparison_wanted = Signal(str, str)
    closed = Signal()

    # What the tables of commands reach for. Types of attributes and of decorated methods are otherwise inferred, and
    # mypy meets those tables, which are in an import cycle with this module, first.
    document: Document
    canvas: CanvasView
    marks: CanvasBookmarks
    search: SearchBox
    docks: dict[str, QDockWidget]
    pane_focus: PaneFocus
    netron: Netron

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__()
        self.settings = settings or Settings()
        self.document = Document(self, self.settings)
        self.document.set_providers(self.settings.providers or [p.name for p in default_providers()])
        self.colour_mode = "category"
        self.netron = Netron(self)
        self._was_busy = False
        self._blamed = ""  # the file whose errors have been brought to the front
        self._build()
        self._connect()
        self._layout.restore()
        self.empty.set_recent(self.settings.recent)
        self.refresh_commands()

    # Building

    def _build(self) -> None:
        self.setWindowTitle("OInfer")
        self.setDockOptions(
            QMainWindow.DockOption.AnimatedDocks
            | QMainWindow.DockOption.AllowTabbedDocks
            | QMainWindow.DockOption.AllowNestedDocks
            | QMainWindow.DockOption.GroupedDragging
        )
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        set_corners(self)
        self.message = MessageBar()
        self.canvas = CanvasView(self.document)
        self.marks = CanvasBookmarks(self.document, self.canvas)
        self.empty = EmptyState()
        self._pages = QStackedWidget()
        self._pages.addWidget(self.empty)
        self._pages.addWidget(self.canvas)
        centre = QWidget()
        layout = QVBoxLayout(centre)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.message)
        layout.addWidget(self._pages, 1)
        self.setCentralWidget(centre)
        self.actions_by_name = actions.build(self)
        self.toolbar = ToolBar(self, self.actions_by_name)
        self.search = self.toolbar.search
        self.addToolBar(self.toolbar)
        self.docks = add_docks(self, self.document)
        self._layout = WindowLayout(self, self.docks, self.settings)
        self.pane_focus = PaneFocus(self, self.docks, self.canvas.canvas)
        self.status = StatusBar(self.document)
        self.setStatusBar(self.status)
        self._add_menus()

    def _add_menus(self) -> None:
        """What depends on the docks and on the recent files."""
        names = self.actions_by_name
        found = [action.menu() for action in self.menuBar().actions()]
        menus = {menu.title().replace("&", ""): menu for menu in found if isinstance(menu, QMenu)}
        self.recent_menu = RecentMenu(self.settings, self.document.open, self)
        self.recent_menu.cleared.connect(self._forget_recent)
        menus["File"].insertMenu(names["sample"], self.recent_menu)
        panes = menus["View"].addMenu("&Panes")
        menus["View"].insertMenu(names["reset_layout"], panes)
        menus["View"].insertMenu(names["colour_attachment"], NumbersMenu(self, menus["View"]))
        for dock in self.docks.values():
            panes.addAction(dock.toggleViewAction())

    def _connect(self) -> None:
        document = self.document
        document.model_changed.connect(self._show_model)
        document.sketched.connect(self._show_sketch)
        HeldBack(document, (self.search, self.status.facts, *(dock.widget() for dock in self.docks.values())))
        document.failed.connect(self.message.show_message)
        self.netron.failed.connect(self.message.show_message)
        document.providers_changed.connect(self._save_providers)
        for signal in (document.model_changed, document.graph_changed, document.selection_changed,
                       document.history_changed):  # fmt: skip
            signal.connect(self.refresh_commands)
        document.busy_changed.connect(self._follow_work)
        document.finder.found.connect(self._show_matches)
        document.find_requested.connect(self._find)
        document.differ.changed.connect(self._show_changes)
        document.attachment.changed.connect(self._show_attachment)
        self.search.list_wanted.connect(self.list_matches)
        self.status.problems.clicked.connect(lambda: self.show_pane("problems"))
        self.toolbar.colours.chosen.connect(self.set_colour_mode)
        self.toolbar.theme.clicked.connect(self.toggle_theme)
        self.canvas.view_changed.connect(self._show_zoom)
        self.canvas.options_changed.connect(self.refresh_commands)
        self.canvas.canvas.menu_opening.connect(self._extend_canvas_menu)
        self._drop = FileDrop(self)
        self._drop.hovering.connect(self.empty.set_drop_active)
        self._drop.dropped.connect(self._take_files)
        self.empty.open_clicked.connect(self.open_dialog)
        self.empty.sample_clicked.connect(self.open_sample)
        self.empty.recent_clicked.connect(document.open)
        document.opening_changed.connect(lambda: self.empty.set_opening(document.opening_name))
        problems = self.docks["problems"].widget()
        if isinstance(problems, ProblemsPane):
            problems.count_changed.connect(self._show_problem_count)
        run = self.docks["run"].widget()
        if isinstance(run, RunPane):
            run.finished.connect(lambda: document.turns.ask(self._fill_timings))
            run.failed.connect(self.docks["run"].raise_)
        self._file_watch = FileWatch(document)
        self._file_watch.noticed.connect(self.message.show_message)
        viewports = [area.viewport() for area in self.findChildren(QAbstractScrollArea)]
        self._mouse_history = MouseHistory(document, [*viewports, self.canvas.canvas])
        on_theme(self._set_theme)

    def sizeHint(self) -> QSize:
        return QSize(1440, 900)

    # Opening

    def open_dialog(self, new_window: bool = False) -> None:
        """Ask for a file and open it here, or in a new window."""
        path = self.ask_for_model("Open a model")
        if path and new_window:
            self.window_wanted.emit(path)
        elif path:
            self.document.open(path)

    def ask_for_model(self, title: str) -> str:
        """The path of the model that the user chooses; empty for none."""
        return QFileDialog.getOpenFileName(self, title, self.settings.folder, FILTER)[0]

    def open_sample(self) -> None:
        self.document.open(resources.path(resources.SAMPLE_MODEL))

    @Slot()
    def _show_model(self) -> None:
        path = self.document.path or ""
        self.message.hide()
        self._show_title(path)
        self.setWindowFilePath(path)
        self.settings.add_recent(path)
        self.settings.folder = str(Path(path).absolute().parent)
        self._pages.setCurrentWidget(self.canvas)

    @Slot(object)
    def _show_sketch(self, sketch: object) -> None:
        """Show the picture of what is being opened; the panes wait for it. None: it did not open after all."""
        is_sketched, has_model = sketch is not None, self.document.model is not None
        self._pages.setCurrentWidget(self.canvas if is_sketched or has_model else self.empty)
        self._show_title(self.document.opening_path if is_sketched else self.document.path or "")
        self.refresh_commands()

    def _show_title(self, path: str) -> None:
        self.setWindowTitle(f"{Path(path).name} – OInfer" if path else "OInfer")

    @Slot()
    def _forget_recent(self) -> None:
        self.empty.set_recent([])

    @Slot(list)
    def _take_files(self, paths: list[str]) -> None:
        """The first model opens here, each other in its own window; what is about a model is attached to it."""
        models, attached = told_apart(paths)
        if attached and not models and self.document.model is None:
            models, attached = attached, []  # to be told what it is
        for path in attached[:1]:
            if models:
                self.document.attachment.open_with(models[0], path)
            else:
                self.document.attachment.open(path)
        for path in models[:1]:
            self.document.open(path)
        for path in models[1:]:
            self.window_wanted.emit(path)

    # Commands

    @Slot(str)
    def set_colour_mode(self, mode: str) -> None:
        """Colour the canvas by one of the modes of `gui.centre.colour_modes`."""
        self.colour_mode = mode
        self.canvas.set_colour_mode(mode)
        self.toolbar.colours.set_current(mode)
        self.refresh_commands()

    @property
    def theme_mode(self) -> str:
        return theme_manager().mode

    def set_theme_mode(self, mode: str) -> None:
        """Follow the system, or stay light or dark; remembered."""
        theme_manager().set_mode(mode)
        self.settings.theme = mode
        self.refresh_commands()

    @Slot()
    def toggle_theme(self) -> None:
        self.set_theme_mode("light" if theme_manager().theme.dark else "dark")

    def toggle_full_screen(self) -> None:
        """Take the whole screen, or give it back; the window is then as large as before."""
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)
        self.refresh_commands()

    def reset_layout(self) -> None:
        arrange(self, self.docks)

    def show_pane(self, name: str) -> None:
        """Bring a pane to the front, by its name in `docks`."""
        self.docks[name].show()
        self.docks[name].raise_()

    def copy_name(self) -> None:
        if self.document.selection is not None:
            QGuiApplication.clipboard().setText(self.document.selection.qualified_name)

    def quit(self) -> None:
        QApplication.closeAllWindows()

    def list_matches(self) -> None:
        """Bring the list of all matches to the front."""
        self.show_pane("find")

    @Slot(str)
    def _find(self, query: str) -> None:
        self.search.edit.setText(query)
        self.list_matches()

    @Slot(object, object)
    def _extend_canvas_menu(self, menu: QMenu, item: object) -> None:
        names = ON_BACKGROUND if item is None else ("save_values",) if isinstance(item, Tensor) else ()
        menu.addActions([self.actions_by_name[name] for name in names])

    @Slot()
    def _show_matches(self) -> None:
        items = self.document.finder.items
        self.canvas.highlight(items)
        self.docks["find"].setWindowTitle(f"Find  {len(items):,}" if items else "Find")
        self.refresh_commands()

    @Slot()
    def _show_changes(self) -> None:
        change_commands.show(self)

    @Slot()
    def _show_attachment(self) -> None:
        attachment_commands.show(self)

    def save_values(self) -> None:
        """Write the values that the Tensor pane shows."""
        pane = self.docks["tensor"].widget()
        if isinstance(pane, TensorPane):
            pane.save()

    # Keeping up

    @Slot()
    def refresh_commands(self) -> None:
        """Bring what can be done, and what is chosen, up to date."""
        actions.refresh(self, self.actions_by_name)

    @Slot()
    def _follow_work(self) -> None:
        """As work begins and ends: commands need not know how far it is."""
        if self.document.busy != self._was_busy:
            self._was_busy = self.document.busy
            self.refresh_commands()

    @Slot()
    def _show_zoom(self) -> None:
        self.toolbar.zoom.setText(f"{self.canvas.scale * 100:.0f} %")

    def _fill_timings(self) -> None:
        """Show the times of a run, and bring them to the front when they are there: each takes a turn of its own."""
        dock = self.docks["timings"]
        pane = dock.widget()
        assert isinstance(pane, TimingsPane)
        pane.bring_up_to_date()
        self.document.turns.ask(dock.raise_)

    @Slot(int, int, int)
    def _show_problem_count(self, count: int, errors: int, warnings: int) -> None:
        """A model that opens with errors shows them first: what else is seen of it may mislead."""
        dock = self.docks["problems"]
        dock.setWindowTitle(f"Problems  {count}" if count else "Problems")
        self.status.show_problems(errors, warnings)
        path = self.document.path or ""
        if errors and self._blamed != path:
            dock.raise_()
        self._blamed = path if errors else ""

    @Slot()
    def _save_providers(self) -> None:
        self.settings.providers = self.document.providers

    @Slot(object)
    def _set_theme(self, theme: Theme) -> None:
        self.toolbar.theme_icon.set_name("sun" if theme.dark else "moon")

    # Coming and going

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._layout.restore_panes()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember how the window stood and be gone: what is under way is stopped, and `Windows` waits for its end."""
        self._layout.save()
        self.netron.stop()
        self.document.close()
        event.accept()
        self.closed.emit()
