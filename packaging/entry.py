"""Start of the frozen program: `oinfer` with the same arguments as the console script."""

from __future__ import annotations

import multiprocessing
import sys

if __name__ == "__main__":
    # Before any import of ours: a spawned layout process starts here again and must go no further.
    multiprocessing.freeze_support()

    from engine.cli import main

    sys.exit(main())
