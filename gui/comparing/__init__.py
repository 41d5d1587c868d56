"""The other model that the document's one is held against."""
