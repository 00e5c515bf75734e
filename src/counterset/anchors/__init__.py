"""Anchors: lists of options that are fixed for regions of inputs, so that near inputs share them.

Begin with :mod:`counterset.anchors.chooser`, which says how an input gets its options from the list
of its region. :mod:`counterset.anchors.regions` divides the inputs and proves how far an input is
from the border of its region; :mod:`counterset.anchors.option_list` is the list, and
:mod:`counterset.anchors.learning` puts it into its order. :mod:`counterset.anchors.anchors` holds
all lists. May import ``recipes``, ``steps`` and what lies below them.
"""
