"""Pictures, drawn with matplotlib (the ``[plots]`` extra), in the style of scikit-learn's Displays.

A class per plot: ``from_explanation``, ``from_evaluation`` or ``from_tuning`` prepares it, and
``plot(ax)`` draws it into axes of yours or into a new figure. Begin with
:mod:`counterset.plots.changes`. Colours, titles, numbers as marks and the import of matplotlib are
in :mod:`counterset.plots.style`; where things stand in a map, in :mod:`counterset.plots.layouts`.
May import ``evaluation`` and what lies below it.
"""

from counterset.plots.changes import ChangesDisplay
from counterset.plots.map import MapDisplay
from counterset.plots.menu import MenuDisplay
from counterset.plots.stability import StabilityDisplay
from counterset.plots.steps import StepsDisplay
from counterset.plots.trade_off import TradeOffDisplay, draw_trade_off

__all__ = [
    "ChangesDisplay",
    "MapDisplay",
    "MenuDisplay",
    "StabilityDisplay",
    "StepsDisplay",
    "TradeOffDisplay",
    "draw_trade_off",
]
