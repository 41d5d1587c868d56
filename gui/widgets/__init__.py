"""Widgets that panes are made of. They know no pane; those named `run_…` are parts of the Run and Compare panes."""
