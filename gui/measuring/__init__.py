"""The window driven and measured by itself."""
