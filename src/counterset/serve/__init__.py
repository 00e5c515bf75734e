"""A server of explanations: an HTTP service for programs, and a page for people.

Begin with :mod:`counterset.serve.app`, which puts the parts together. ``served.py`` is what is
served, ``service.py`` the service, ``explorer.py`` with ``cases.py`` and ``static/`` the page,
``group.py`` its view of all cases. ``workers.py`` says what is done first, and what ends early.
``people.py`` asks people almost alike, and ``chances.py`` says how probable what is wanted is.
Needs the extra ``[app]``, except ``served.py``, ``readable.py`` and ``quotas.py``, which the
command imports at start; :mod:`counterset.cli.serve` runs the server from a terminal.
"""
