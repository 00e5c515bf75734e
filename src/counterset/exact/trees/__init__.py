"""Tree ensembles: the nearest point of another class by constraint programming.

Begin with ``solve``. ``ensembles`` has trees as the solvers see them; ``models``, ``boosters``,
``pipelines`` (with ``bisection``) read them. ``cells`` divides a ball by the
splits; ``descent`` and ``cp_sat`` (OR-tools) search its cells. Of the other sub-packages of
``exact``, only ``milp`` is imported, for linear relations between features.
"""
