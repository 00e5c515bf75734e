"""Recipes: what training rows had to change, tried on other inputs.

A recipe sets some features to fixed values. Begin with :mod:`counterset.recipes.recipe`, which
says how a recipe is applied to an input, then :mod:`counterset.recipes.learning`, which says where
recipes come from, and :mod:`counterset.recipes.chooser`, which chooses among those that work.
May import ``steps`` and what lies below it.
"""
