"""Saved explainers: what ``fit`` learned, in a file that runs no code when it is loaded.

Begin with ``files``, which writes and reads the file. ``values`` turns what an explainer holds into
text and arrays, and back; it knows the classes that may be in a file.
"""
