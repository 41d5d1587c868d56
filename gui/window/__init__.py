"""The frame of a window: what stands around the canvas, and windows among each other."""
