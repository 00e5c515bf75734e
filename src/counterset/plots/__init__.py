"""Pictures, drawn with matplotlib (the ``[plots]`` extra).

Begin with :mod:`counterset.plots.trade_off`, which draws a tuning. Colours and the import of
matplotlib are in :mod:`counterset.plots.style`. May import ``evaluation`` and what lies below it.
"""

from counterset.plots.trade_off import draw_trade_off

__all__ = ["draw_trade_off"]
