"""Mixed-integer linear programmes, solved by HiGHS through scipy.

Begin with ``moves``: the shortest move within a ball, to which networks and nearest neighbours add
rows. ``programme`` is the programme itself, and ``quiet`` keeps the solver from writing to the
user's output. Imports no other sub-package of ``exact``.
"""
