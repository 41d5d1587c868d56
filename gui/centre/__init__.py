"""The canvas in the window: tied to the document, with what stands above it and what covers it."""
