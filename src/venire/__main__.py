"""``python -m venire``: the command line."""

from __future__ import annotations

from venire.cli.main import main

if __name__ == "__main__":
    main()
