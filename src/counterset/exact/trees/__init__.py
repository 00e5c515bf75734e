"""Tree ensembles: the nearest point of another class by constraint programming.

Begin with ``solve``, which descends to a near counterfactual first and then proves how near one can
be. ``models`` reads trees and boosters, and ``pipelines`` the steps before them. ``cells`` divides
a ball by the splits, and ``cp_sat`` (OR-tools) searches its cells. Of the other solvers of
``exact``, only ``milp`` is imported, for linear relations between features.
"""
