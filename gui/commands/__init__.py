"""The commands of the window, as data: what stands in a menu."""
