"""A server of explanations: an HTTP service for programs, and a page for people.

Begin with :mod:`counterset.serve.app`, which puts the parts together. ``served.py`` is what is
served, ``service.py`` the service, ``explorer.py`` with ``static/`` the page. Needs the extra
``[app]``; what runs it from a terminal is :mod:`counterset.cli.serve`.
"""
