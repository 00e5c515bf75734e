"""Constraints: what a counterfactual may change, and what counts as plausible.

Begin with ``constraints``, which users write. It compiles to ``rules`` about the columns of a
matrix; ``relations`` reads linear relations between features, and ``conditions`` what must hold if
something else does. ``plausibility`` requires counterfactuals to lie near training rows.

Modules here import ``counterset.models``, ``counterset.tables`` and what lies below: no step.
"""
