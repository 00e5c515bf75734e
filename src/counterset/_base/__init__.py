"""What every other package needs: names for arrays, checks of parameters, and small tools.

Begin with ``arrays``: its names say what an array has. The others are ``bidi`` (texts from right to
left), ``checks``, ``files`` (atomic writes and locks), ``lazy`` (values computed once),
``progress`` (a progress bar and warnings) and ``threads``.

Modules here import ``counterset.exceptions`` only.
"""
