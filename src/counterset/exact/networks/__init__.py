"""ReLU networks: the nearest point of another class by mixed-integer programmes.

Begin with ``solve``: it searches growing balls. ``encoding`` writes a network within a ball as rows
of a programme, and ``models`` reads networks. Of the other sub-packages of ``exact``, only ``milp``
is imported.
"""
