"""The graph canvas: layout, scene and the widget that paints them.

Nothing is imported here, so that the layout process starts without loading Qt.
"""
