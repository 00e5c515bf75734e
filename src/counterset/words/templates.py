"""Templates: every text of the room, read from one file, so that it can be translated."""

from __future__ import annotations

import string
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

from counterset.exceptions import InvalidInputError

__all__ = ["Templates", "TemplatesLike"]

#: The name of a text, such as "change.item", to the text.
_Texts: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Templates:
    """The texts of one language.

    Attributes
    ----------
    texts
        From names such as ``"change.item"`` to texts with words in braces for values.

    Examples
    --------
    >>> english = Templates.read()
    >>> english("change.item", feature="the age", before="31", after="35 years")
    'the age from 31 to 35 years'
    >>> english.join(["a", "b", "c"])
    'a, b, and c'
    """

    texts: _Texts

    @classmethod
    def read(cls, templates: TemplatesLike = None) -> Templates:
        """Read the texts of a file; None: the English ones."""
        if isinstance(templates, Templates):
            return templates
        return _english() if templates is None else cls(_read_file(templates))

    def __call__(self, name: str, /, **values: Any) -> str:
        """Return a text with values in place of the words in braces."""
        text: str = self.texts[name].format(**values)
        return text

    def join(self, items: Sequence[str], *, last: str = "list.and") -> str:
        """Join items to an enumeration: "a and b", "a, b, and c"."""
        if len(items) <= 2:
            return self(last).join(items)
        final = self("list.last") if last == "list.and" else self(last)
        return f"{self('list.comma').join(items[:-1])}{final}{items[-1]}"


#: What users pass: None for English, a path, or templates that were read before.
TemplatesLike: TypeAlias = Templates | Path | str | None


@cache
def _english() -> Templates:
    text = files("counterset.words").joinpath("english.toml").read_text(encoding="utf-8")
    return Templates(_flat(tomllib.loads(text)))


def _read_file(path: Path | str) -> _Texts:
    """Read a translation, and check that it has every text of the English one."""
    try:
        found = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, TypeError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInputError(
            f"The templates {path} cannot be read ({type(error).__name__}: {error}). Pass the path "
            f"of a translated copy of counterset/words/english.toml."
        ) from error
    texts, english = _flat(found), _english().texts
    if missing := [name for name in english if name not in texts]:
        raise InvalidInputError(f"The templates {path} have no text for {_list(missing)}.")
    if unknown := [name for name in texts if name not in english]:
        raise InvalidInputError(f"The templates {path} have unknown names: {_list(unknown)}.")
    for name, text in texts.items():
        if type(text) is not type(english[name]):
            raise InvalidInputError(f"The templates {path} must have a text for {name}.")
        if isinstance(text, str):
            _check_words(path, name, text, _words(english[name]))
    return texts


def _check_words(path: Path | str, name: str, text: str, known: set[str]) -> None:
    try:
        strange = sorted(_words(text) - known)
    except ValueError as error:
        raise InvalidInputError(
            f"The templates {path} have a stray brace in {name}: {error}."
        ) from error
    if strange:
        raise InvalidInputError(
            f"The templates {path} name {{{strange[0]}}} in {name}, where only "
            f"{_list(sorted(known)) or 'no words in braces'} can stand."
        )


def _words(text: str) -> set[str]:
    """Return the words in braces."""
    return {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}


def _flat(tables: Mapping[str, Any]) -> _Texts:
    """Return tables of texts as one mapping, with the table's name before a dot."""
    flat: dict[str, Any] = {}
    for table, texts in tables.items():
        if isinstance(texts, Mapping):
            flat |= {f"{table}.{name}": text for name, text in texts.items()}
        else:
            flat[table] = texts
    return flat


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)
