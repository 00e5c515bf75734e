"""Explainers in files: a line that names the format, a header of JSON, then the arrays.

The arrays are mapped into memory, so that all processes that load a file share them.
"""

from __future__ import annotations

import hashlib
import json
import mmap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterset._base.arrays import Indices, to_python
from counterset._base.files import whole_file
from counterset.exceptions import CountersetError, InvalidInputError, ModelError
from counterset.models.adapter import ModelAdapter
from counterset.models.files import read_skops, write_skops
from counterset.saving.values import Reader, Writer
from counterset.strategies.recipes import RecipeBook
from counterset.strategies.strategy import Finder
from counterset.strategies.training import TrainingData

__all__ = ["Saved", "read_explainer", "write_explainer"]

#: The first line; its number rises when older releases could not read the file.
FIRST_LINE = b"counterset explainer 1\n"
#: After it come the length of the header in 8 bytes, and the SHA-256 of the header in 32.
LENGTH_BYTES, HASH_BYTES = 8, 32
#: Arrays begin at multiples of 64 bytes, as numpy allocates them.
ALIGNMENT = 64
#: A model that is given to ``load`` is asked about up to 1000 training rows: in well below a second
#: it shows whether it is the one that was explained.
ROWS_CHECKED = 1000
#: Predictions of numbers may differ by a billionth: other machines round otherwise.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Saved:
    """What is saved of a fitted explainer.

    Attributes
    ----------
    parameters
        Its parameters, without the model.
    training, recipes, finder
        What it learned.
    """

    parameters: Mapping[str, Any]
    training: TrainingData
    recipes: RecipeBook
    finder: Finder


def write_explainer(saved: Saved, path: Path, *, with_model: bool) -> None:
    """Write an explainer to a file, all of it or nothing.

    Parameters
    ----------
    with_model
        Whether to write the model too, by skops.
    """
    from counterset import __version__  # noqa: PLC0415 - it is known once all is imported

    model = saved.training.model
    writer = Writer(model)
    content = {
        name: writer.value(each, name)
        for name, each in {
            **saved.parameters,
            "training_": saved.training,
            "recipes": saved.recipes,
            "strategy_": saved.finder,
        }.items()
    }
    arrays = list(writer.arrays)
    if with_model:
        arrays.append(np.frombuffer(write_skops(model), dtype=np.uint8))
    arrays = [np.asarray(each, order="F" if _is_columnwise(each) else "C") for each in arrays]
    header = {
        "version": __version__,
        "model": type(model).__qualname__,
        "with_model": with_model,
        "content": content,
        "objects": writer.objects,
        "arrays": [_described(each, start) for each, start in _placed(arrays)],
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    with whole_file(path, "The explainer") as unfinished, unfinished.open("wb") as file:
        file.write(FIRST_LINE + len(text).to_bytes(LENGTH_BYTES, "little"))
        file.write(hashlib.sha256(text).digest() + text)
        begin = _aligned(file.tell())
        for array, start in _placed(arrays):
            file.write(b"\0" * (begin + start - file.tell()))
            file.write(_bytes_of(array))


def read_explainer(path: Path, model: Any, *, trust: bool) -> Saved:
    """Read an explainer from a file.

    Parameters
    ----------
    model
        The model that it explains; None: the one in the file.
    trust
        Whether a model in the file may be of types that are not known to be safe.
    """
    if not path.is_file():
        raise InvalidInputError(f"There is no file {path}. Check the path.")
    try:
        header, arrays = _read(path)
        named, with_model = str(header["model"]), bool(header["with_model"])
        stored = arrays.pop() if with_model else None
    except CountersetError:
        raise
    except Exception as error:  # what is damaged can fail in any way
        raise _damaged(path, error) from error
    if model is None and stored is None:
        raise InvalidInputError(
            f"{path} holds an explainer without its model, a {named}. Pass it: load(path, model)."
        )
    if model is None and stored is not None:
        model = read_skops(stored.tobytes(), str(path), trust=trust, way_out="pass trust=True")
    try:
        reader = Reader(model, header["objects"], arrays)
        content = {name: reader.value(each) for name, each in header["content"].items()}
        learned = [content.pop(name) for name in ("training_", "recipes", "strategy_")]
    except Exception as error:
        raise _damaged(path, error) from error
    saved = Saved(content, *learned)
    _check_model(saved.training, path, named)
    return saved


def _read(path: Path) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """Return the header and the arrays of a file."""
    from counterset import __version__  # noqa: PLC0415 - it is known once all is imported

    with path.open("rb") as file:
        first = file.read(len(FIRST_LINE))
        if first != FIRST_LINE:
            same = first.startswith(FIRST_LINE[:-2])
            raise InvalidInputError(
                f"{path} was saved by another release of counterset, in another format. Fit the "
                f"explainer again, and save it."
                if same
                else f"{path} holds no explainer. Pass a file that DiverseExplainer.save wrote."
            )
        length = int.from_bytes(file.read(LENGTH_BYTES), "little")
        digest = file.read(HASH_BYTES)
        if length > path.stat().st_size:
            raise ValueError("its end is missing")
        text = file.read(length)
        if hashlib.sha256(text).digest() != digest:
            raise ValueError("its header is not as it was written")
        header = json.loads(text)
        if header["version"] != __version__:
            raise InvalidInputError(
                f"{path} was saved by counterset {header['version']}, and this is {__version__}: "
                f"what an explainer learns may differ. Fit it again, and save it."
            )
        begin = _aligned(file.tell())
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return header, [_mapped(mapped, begin, each) for each in header["arrays"]]


def _mapped(mapped: mmap.mmap, begin: int, described: dict[str, Any]) -> NDArray[Any]:
    """Return an array that lies in a file; it cannot be written to."""
    dtype, start = np.dtype(described["dtype"]), begin + int(described["start"])
    if dtype.hasobject:
        raise ValueError(f"{dtype} is no dtype of plain numbers")
    shape, order = tuple(described["shape"]), described["order"]
    array: NDArray[Any] = np.ndarray(shape, dtype, buffer=mapped, offset=start, order=order)
    if _hash_of(array) != described["hash"]:
        raise ValueError("its numbers are not as they were written")
    return array


def _placed(arrays: list[NDArray[Any]]) -> Iterator[tuple[NDArray[Any], int]]:
    """Yield the arrays, and where each begins after the header."""
    start = 0
    for array in arrays:
        yield array, start
        start = _aligned(start + array.nbytes)


def _described(array: NDArray[Any], start: int) -> dict[str, Any]:
    return {
        "dtype": array.dtype.str,
        "shape": array.shape,
        "order": "F" if _is_columnwise(array) else "C",
        "start": start,
        "hash": _hash_of(array),
    }


def _is_columnwise(array: NDArray[Any]) -> bool:
    """Whether the columns follow each other in memory: sums may round by the order of numbers."""
    return array.flags.f_contiguous and not array.flags.c_contiguous


def _bytes_of(array: NDArray[Any]) -> memoryview:
    flat = array.T if _is_columnwise(array) else array
    return memoryview(flat.reshape(-1).view(np.uint8))


def _hash_of(array: NDArray[Any]) -> str:
    return hashlib.sha256(_bytes_of(array)).hexdigest()


def _aligned(at: int) -> int:
    return -(-at // ALIGNMENT) * ALIGNMENT


def _damaged(path: Path, error: Exception) -> InvalidInputError:
    reason = f"{type(error).__name__}: {error}".removesuffix(": ")
    return InvalidInputError(
        f"{path} cannot be read as an explainer; it seems to be damaged ({reason}). Copy it again, "
        f"or save it anew."
    )


def _check_model(training: TrainingData, path: Path, named: str) -> None:
    """Check that a model answers about training rows as the one did that was explained."""
    pool, classes = training.pool, training.classes
    rows: Indices = np.sort(np.argsort(pool.lots, kind="stable")[:ROWS_CHECKED])
    try:
        labels = ModelAdapter(training.model, training.table).labels(pool.matrix[rows])
    except ModelError as error:
        raise InvalidInputError(
            f"The model does not take the training rows of the explainer in {path}, which was "
            f"saved with a {named}. {error}"
        ) from error
    expected = classes.labels[pool.codes[rows]]
    if classes.are_measurements:
        same = np.isclose(labels, expected, rtol=ROUNDING, atol=0.0)
    else:
        same = np.asarray(labels == expected, dtype=bool)
    wrong = np.flatnonzero(~same)
    if len(wrong):
        first = wrong[0]
        raise InvalidInputError(
            f"The model gives {len(wrong)} of {len(rows)} training rows another label than the "
            f"{named} with which the explainer in {path} was saved, such as "
            f"{to_python(labels[first])!r} in place of {to_python(expected[first])!r}. Pass that "
            f"model, or fit the explainer to this one."
        )
