"""The ``counterset`` command, one module per subcommand.

Begin with :mod:`counterset.cli.main`. A subcommand is a module with ``add_command``, listed in
``COMMANDS`` there. May import everything else; only ``__main__`` imports it.
"""

from counterset.cli.main import main

__all__ = ["main"]
