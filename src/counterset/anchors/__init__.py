"""Anchored selection: options chosen for regions of inputs, so that nearly equal inputs share them.

Begin with :mod:`counterset.anchors.chooser`, which says how an input gets its options, then
:mod:`counterset.anchors.search`, which says how ``fit`` finds the anchors. The proof of the stable
radius is in :mod:`counterset.anchors.stability`. May import ``metrics``, ``steps``, ``noise`` and
what lies below them.
"""
