"""``python -m counterset``: the same as the ``counterset`` command."""

import sys

from counterset.cli import main

if __name__ == "__main__":
    sys.exit(main())
