"""The ``counterset`` command: one file a command.

Begin with :mod:`counterset.cli.main`. A command is a module with ``add_command``, listed in
``COMMANDS`` there. May import everything else; nothing imports it.
"""

from counterset.cli.main import main

__all__ = ["main"]
