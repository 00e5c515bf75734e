"""Words: explanations as sentences, reasons and letters.

Begin with :mod:`counterset.words.description`, which says what would have to be different. Every
text stands in ``english.toml``; a file of the same form in another language can be passed instead.
May import ``explanations`` and what lies below it.
"""

from counterset.words.description import Description
from counterset.words.letter import write_letter
from counterset.words.templates import Templates

__all__ = ["Description", "Templates", "write_letter"]
