"""Tables: the way from the user's frame or array to a float matrix, to points, and back.

Begin with ``table``, which holds the features of the training data. ``schema`` is what a user
declares about them, and ``wording`` how people call them; ``codes`` finds values that look like
codes. ``features`` has a class for each kind of column, and ``frames`` reads tables of polars and
pyarrow. ``space`` turns rows into points between which distances and angles are taken. ``scaling``
learns what counts as much as what, and ``spread`` where the usual values of a column lie.

Modules here import ``counterset.distances`` and what lies below it: no model, no step.
"""
