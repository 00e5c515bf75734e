"""Linear models: the nearest point of another class in closed form.

Begin with ``closed_form``: it reads like the method. ``half_spaces`` finds the shortest moves, and
``models`` reads scikit-learn's linear models. Imports no other sub-package of ``exact``.
"""
