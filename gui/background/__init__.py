"""Work that does not keep the window from answering."""
