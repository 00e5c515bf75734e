"""Features: what each column of the training data holds, and its way to numbers and back.

Begin with ``feature``, the base class, then read one kind: ``number`` (and ``written``, for numbers
in columns of objects or text), ``time`` or ``category``. ``learning`` chooses the class of each
column. A new kind is one new module, and one line in ``learning.FEATURE_CLASSES``.

Modules here import ``counterset.tables.schema`` and what lies below tables, never the table.
"""
