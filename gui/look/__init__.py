"""How the program looks."""
