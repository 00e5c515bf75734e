"""What every other package needs: names for arrays, checks of parameters, and small tools.

Begin with ``arrays``: its names tell what an array holds. The rest are single functions and
classes: ``callers``, ``checks``, ``files``, ``lazy``, ``products``, ``progress``, ``threads``.

Modules here import ``counterset.exceptions`` only.
"""
