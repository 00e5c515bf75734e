"""Tables: the way from the user's frame or array to a float matrix, to points, and back.

Begin with ``table``, which holds the features of the training data; ``schema`` is what a user
declares about them, ``features`` has a class for each kind, and ``space`` turns rows into points
between which distances and angles are taken. ``scaling`` learns what counts as much as what, and
``spread`` where the usual values of a column lie.

Modules here import ``counterset.distances`` and what lies below it: no model, no step.
"""
