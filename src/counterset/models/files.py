"""Models in files: what may run code when it is loaded is read only if it is trusted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib

from counterset.exceptions import CountersetError, InvalidInputError, MissingExtraError
from counterset.models.frameworks import OnnxFile, as_predictor

__all__ = [
    "feature_names",
    "is_model_file",
    "is_table_file",
    "load_model",
    "read_skops",
    "write_skops",
]

#: The usual endings of files that hold a model, and of files that hold a table.
MODEL_ENDINGS = (".joblib", ".onnx", ".pickle", ".pkl", ".skops")
TABLE_ENDINGS = (".csv", ".parquet", ".pq", ".tsv", ".xlsx")

#: Types that skops does not know, but that can do no harm.
VOUCHED_FOR = (
    # It holds a pattern and dtypes, and returns the names of columns that fit them.
    "sklearn.compose._column_transformer.make_column_selector",
    # The usual dtype for it: a class without instances.
    "numpy.number",
    # Imputers hold some. skops reads one off an empty array, and makes none in another way.
    "numpy.dtype",
)


def is_model_file(path: Path) -> bool:
    """Whether a name ends as those of models do.

    Examples
    --------
    >>> is_model_file(Path("credit.skops")), is_model_file(Path("credit.csv"))
    (True, False)
    """
    return path.suffix.lower() in MODEL_ENDINGS


def is_table_file(path: Path) -> bool:
    """Whether a name ends as those of tables do."""
    return path.suffix.lower() in TABLE_ENDINGS


def load_model(path: Path, *, trust: bool = False) -> Any:
    """Load a fitted model from a file.

    Parameters
    ----------
    path
        An ONNX file (``.onnx``), a skops file (``.skops``), or else a pickle, as ``joblib.dump``
        and ``pickle.dump`` write it.
    trust
        Whether the file may run code of its own. A pickle can run any code when it is loaded, so
        it is loaded only if this is true; a skops file needs it only for types that are not known
        to be safe, such as the trees of scikit-learn.

    Returns
    -------
    model
        What the explainers take: the model itself, or the path of an ONNX file.
    """
    if not path.is_file():
        raise InvalidInputError(f"There is no file {path}. Check the path.")
    if is_table_file(path):
        raise InvalidInputError(
            f"{path} is a table by its name, not a model. Pass the file of a fitted model."
        )
    if path.suffix.lower() == ".onnx":
        OnnxFile(str(path)).session()  # a file that is none shows now
        return str(path)
    if path.suffix.lower() == ".skops":
        way_out = "pass --trust"
        model = _read(
            path,
            "a skops file",
            lambda: read_skops(path.read_bytes(), str(path), trust=trust, way_out=way_out),
        )
    elif trust:
        model = _read(path, "a pickled model", lambda: joblib.load(path))
    else:
        raise InvalidInputError(
            f"{path} may be a pickle, and a pickle can run any code when it is loaded. If you know "
            f"where it comes from, pass --trust. An .onnx file needs no trust, and a .skops file "
            f"only for types that are not known to be safe."
        )
    if not callable(getattr(as_predictor(model), "predict", model)):
        raise InvalidInputError(
            f"{path} holds no model, but an object of type {type(model).__name__}. Save a model "
            f"with a predict method, or a function from rows to labels."
        )
    return model


def feature_names(model: Any) -> list[str] | None:
    """Return the names of the columns that a model takes, in its order; None if it has none.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LinearRegression
    >>> X = pd.DataFrame({"age": [20, 30], "income": [1.5, 2.5]})
    >>> feature_names(LinearRegression().fit(X, [0, 1]))
    ['age', 'income']
    >>> feature_names(LinearRegression().fit(X.to_numpy(), [0, 1])) is None
    True
    """
    predictor = as_predictor(model)
    if isinstance(predictor, OnnxFile):
        return predictor.session().feature_names
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _read(path: Path, what: str, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except CountersetError:
        raise
    except Exception as error:  # what is no model can fail in any way
        reason = f"{type(error).__name__}: {error}".removesuffix(": ")
        raise InvalidInputError(f"{path} cannot be read as {what} ({reason}).") from error


def read_skops(content: bytes, where: str, *, trust: bool, way_out: str) -> Any:
    """Return the model in the content of a skops file.

    Parameters
    ----------
    where
        The file, for messages.
    trust
        Whether types are made that are not known to be safe.
    way_out
        What to do if they are, for messages.
    """
    io = _skops()
    unknown = io.get_untrusted_types(data=content)
    doubtful = [each for each in unknown if each not in VOUCHED_FOR]
    if doubtful and not trust:
        raise InvalidInputError(
            f"{where} holds types that are not known to be safe in a file from anyone: "
            f"{', '.join(doubtful)}. (A crafted tree can crash the process, other types can run "
            f"code.) If you know where the file comes from, {way_out}."
        )
    return io.loads(content, trusted=unknown)


def write_skops(model: Any) -> bytes:
    """Return a model as the content of a skops file."""
    io = _skops()
    try:
        content: bytes = io.dumps(model)
        io.loads(content, trusted=io.get_untrusted_types(data=content))  # a lambda has no name
    except Exception as error:  # what it does not know can fail in any way
        raise InvalidInputError(
            f"skops cannot save a model of type {type(model).__name__} ({error}). Leave the model "
            f"out, and pass it when the explainer is loaded."
        ) from error
    return content


def _skops() -> Any:
    try:
        from skops import io  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError(
            "A skops file needs skops: pip install 'counterset[skops]'."
        ) from None
    return io
