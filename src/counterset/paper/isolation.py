"""Each peer in a process of its own, with limits, so that it cannot stop the others.

The process gets rows as plain objects, and asks the model here through a pipe if its Python is
another one. So a peer can have an environment of its own, with other versions of numpy or pandas.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any, Self

import joblib
import numpy as np
import pandas as pd
import sklearn

import counterset
from counterset._base.arrays import Vector
from counterset.evaluation.evaluate import evaluate
from counterset.exceptions import CountersetError, NoCounterfactualError
from counterset.explainer import DiverseExplainer
from counterset.paper.cells import Cell, CellError
from counterset.paper.experiment import PROTOCOLS, Experiment, alpha_of, scale_of
from counterset.paper.peers.libraries import interpreter_of
from counterset.paper.peers.protocol import check_peer, find_peer, takes
from counterset.paper.peers.wire import pack, pack_labels, unpack
from counterset.paper.setups import Split, identity_of

__all__ = [
    "Cost", "IsolatedPeer", "KeptAnswers", "PeerRunner", "TimeLimitError", "seconds_of_pairs",
    "serve",
]  # fmt: skip

#: What the process of a peer runs. It reads this very package, whatever else its environment holds.
PROGRAM = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
folder, handle = sys.argv[1:]
spec = spec_from_file_location(
    "counterset", folder + "/__init__.py", submodule_search_locations=[folder]
)
sys.modules["counterset"] = package = module_from_spec(spec)
spec.loader.exec_module(package)
from counterset.paper.isolation import serve
serve(int(handle))
"""
PACKAGE = str(Path(counterset.__file__).parent)
#: Of an error message, 200 characters go into the table.
LONGEST_MESSAGE = 200
#: Peers are compared on one core. TensorFlow is told to keep its log to itself.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "",
}
#: What can be asked of a model.
QUESTIONS = ("predict", "predict_proba", "decision_function")
#: What some peers read of a model: the layers of a network, the coefficients of a linear one.
READABLE = ("layers", "coef_", "intercept_")
#: 4 GB.
MEMORY = 4e9


class TimeLimitError(CellError):
    """Raised when the time of a peer is over."""


@dataclass(frozen=True)
class Cost:
    """What an answer of a peer took.

    Attributes
    ----------
    seconds
        Processor time in the peer's process, with that of the model, without that of the pipe.
        Processes that the peer starts are not counted.
    rows
        The number of rows that the model was asked about.
    """

    seconds: float
    rows: int


class IsolatedPeer:
    """A peer in a process of its own, with a limit of time and one of memory.

    It is a :class:`~counterset.paper.peers.protocol.Peer` itself. If the peer fails, ``fit`` and
    ``explain_many`` raise :class:`~counterset.paper.cells.CellError` with the reason, and the
    process is ended. The peer runs in the environment that ``counterset peers --install`` made for
    its library, if there is one. Where Python, numpy, pandas and scikit-learn have the versions
    that they have here, it gets a copy of the model, and can read it. Elsewhere, and with another
    ``python``, it asks the model through a pipe.

    Parameters
    ----------
    name : str
        The name of a known peer, or ``package.module:Class``.
    norm : int, default=1
        The norm to be measured in.
    immutable : sequence of str, default=()
        Features that may not change, for peers that can keep them; see ``keeps_immutable``.
    alpha : int, default=None
        The number of nearest candidates, for peers that use the paper's step 2.
    time_limit : float, default=600.0
        Seconds for fitting and all explanations together.
    memory_limit : float, default=4e9
        Bytes that the process may reserve, where the system can limit it (Linux).
    python : str, default=None
        The interpreter; None: that of the library's own environment, or this one.
    folder : Path, default=None
        Where the environments are; None: in the library's cache.

    Attributes
    ----------
    cost
        What the last call took.
    keeps_immutable
        Whether the peer was told which features may not change. Known after ``fit``.
    uses_norm
        Whether its sets depend on the norm. Known after ``fit``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.random.default_rng(0).random((100, 2))
    >>> model = LogisticRegression().fit(X, X.sum(axis=1) > 1)
    >>> with IsolatedPeer("nearest-rows") as peer:
    ...     peer.fit(model, X)
    ...     [found] = peer.explain_many(X[:1])
    >>> len(found)
    5
    """

    def __init__(
        self,
        name: str,
        norm: int = 1,
        immutable: Sequence[str] = (),
        alpha: int | None = None,
        *,
        time_limit: float = 600.0,
        memory_limit: float = MEMORY,
        python: str | None = None,
        folder: Path | None = None,
    ) -> None:
        check_peer(name)
        self.name = name
        self.norm = norm
        self.immutable = immutable
        self.alpha = alpha
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.python = python
        self.folder = folder
        self.cost = Cost(0.0, 0)
        self.keeps_immutable = False
        self.uses_norm = True
        self._left = time_limit
        self._process: subprocess.Popen[bytes] | None = None

    def fit(self, model: Any, X: Any) -> None:
        """Start the process, and prepare the peer there."""
        self.close()
        try:
            python = self.python or interpreter_of(self.name, self.folder)
        except CountersetError as error:
            raise CellError(str(error)) from error
        self._model, self._like = model, X[:0]
        self._left = self.time_limit
        self._start(python)
        same = Path(python) == Path(sys.executable)
        # An environment made for a library may have the versions that are here.
        may_copy = same or self.python is None
        told = {
            "peer": self.name,
            "norm": self.norm,
            "immutable": tuple(self.immutable),
            "alpha": self.alpha,
            "memory": int(self.memory_limit),
            "rows": pack(X),
        }
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model"
            if may_copy:
                joblib.dump(model, file)
                told |= {"model": str(file), "versions": _versions()}
            if not same:
                told["answers"] = {
                    "questions": [name for name in QUESTIONS if hasattr(model, name)],
                    # A network has labels, an estimator has classes.
                    "classes": pack_labels(
                        getattr(model, "classes_", getattr(model, "labels", ()))
                    ),
                    "read": {
                        name: _plain(getattr(model, name))
                        for name in READABLE
                        if hasattr(model, name)
                    },
                }
            fitted = self._ask(("fit", told))
        self.uses_norm = fitted["uses_norm"]
        self.keeps_immutable = fitted["keeps_immutable"]

    def explain_many(self, X: Any) -> list[Any]:
        """Return the set of each row."""
        answer = self._ask(("explain", pack(X)))
        return [unpack(each) for each in answer["sets"]]

    def close(self) -> None:
        """End the process, and those that it started."""
        if self._process is None:
            return
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._connection.close()
        self._errors.close()
        self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self, python: str) -> None:
        self._connection, theirs = Pipe()
        # A file: a peer that writes much would wait at a full pipe. ``close`` closes it.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                [
                    python,
                    "-c",
                    PROGRAM,
                    str(Path(counterset.__file__).parent),
                    str(theirs.fileno()),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                pass_fds=[theirs.fileno()],
                env=os.environ | ENVIRONMENT,
                # A new process group: what a peer starts is ended together with it.
                start_new_session=True,
            )
        except OSError as error:
            self._connection.close()
            self._errors.close()
            raise CellError(f"{python} cannot be run: {error.strerror}") from error
        finally:
            theirs.close()

    def _ask(self, request: tuple[str, Any]) -> dict[str, Any]:
        """Send a request, answer what the peer asks about the model, and return its answer."""
        if self._process is None:
            raise CellError("its process has ended")
        started = time.monotonic()
        try:
            self._connection.send(request)
            while True:
                left = self._left - (time.monotonic() - started)
                if left <= 0 or not self._connection.poll(left):
                    raise TimeLimitError(
                        f"not finished within the time limit of {self.time_limit:g} s"
                    )
                kind, content = self._connection.recv()
                if kind == "model":
                    self._connection.send(self._answer(*content))
                elif kind == "failed":
                    raise CellError(content[:LONGEST_MESSAGE])
                else:
                    break
        except (EOFError, OSError):
            reason = self._why_it_ended()
            self.close()
            raise CellError(reason) from None
        except CellError:
            self.close()
            raise
        self._left -= time.monotonic() - started
        self.cost = Cost(content["seconds"], content["rows"])
        answer: dict[str, Any] = content
        return answer

    def _answer(self, question: str, packed: Any) -> Any:
        """Ask the model, and return its answer with the seconds that it took."""
        try:
            rows = unpack(packed)
            if isinstance(self._like, pd.DataFrame):
                rows = as_trained(rows, self._like)
            started = time.process_time()
            answer = getattr(self._model, question)(rows)
            seconds = time.process_time() - started
        except Exception as error:
            raise CellError(f"the model refused rows of the peer: {_named(error)}") from error
        return pack_labels(answer), seconds

    def _why_it_ended(self) -> str:
        assert self._process is not None
        code = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").splitlines()
        said = [line.strip() for line in lines if line.strip()]
        if code < 0:
            return (
                f"the process was ended by {signal.Signals(-code).name}; the limit of memory is "
                f"{self.memory_limit / 1e9:g} GB"
            )
        if said and code == 1:  # Python's own code for an exception
            return said[-1][:LONGEST_MESSAGE]
        return f"the process ended with exit code {code}"


def as_trained(rows: Any, like: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with the order and the dtypes of the training rows, but for numbers.

    A peer may ask about 30.5 where all training rows have whole numbers.
    """
    frame = pd.DataFrame(rows, columns=like.columns)
    kinds = {
        name: dtype
        for name, dtype in like.dtypes.items()
        if not pd.api.types.is_numeric_dtype(dtype)
    }
    return frame.astype(kinds)


def _plain(value: Any) -> Any:
    """Return arrays, and lists of pairs of them, as lists."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return np.asarray(value).tolist()


class _Counter:
    """Counts the rows that a model is asked about, and the time that a pipe takes."""

    def __init__(self) -> None:
        self._inside = False
        self.reset()

    def reset(self) -> None:
        """Begin to count for another request."""
        self.rows = 0
        self.waited = self.seconds = 0.0

    @contextmanager
    def timing(self) -> Iterator[None]:
        """Set ``seconds`` to what the block takes, without the time of the pipe."""
        started = time.process_time()
        yield
        self.seconds = max(time.process_time() - started - self.waited, 0.0)

    def count(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return the function; what it asks of the same model does not count again."""

        def counted(X: Any, *arguments: Any, **options: Any) -> Any:
            if self._inside:
                return function(X, *arguments, **options)
            self.rows += len(X)
            self._inside = True
            try:
                return function(X, *arguments, **options)
            finally:
                self._inside = False

        return counted


class _AskedModel:
    """The model of another process. What can be asked and read is set when it is made."""

    def __init__(self, connection: Connection, counter: _Counter, answers: dict[str, Any]) -> None:
        self.classes_ = np.array(answers["classes"])
        for name, value in answers["read"].items():
            if name == "layers":
                setattr(self, name, [(np.array(w), np.array(b)) for w, b in value])
            else:
                setattr(self, name, np.array(value))
        for question in answers["questions"]:
            setattr(self, question, counter.count(self._asking(connection, counter, question)))

    def _asking(
        self, connection: Connection, counter: _Counter, question: str
    ) -> Callable[[Any], Any]:
        def ask(X: Any) -> Any:
            started = time.process_time()
            connection.send(("model", (question, pack(X))))
            answer, seconds = connection.recv()
            counter.waited += time.process_time() - started - seconds
            return np.array(answer)

        return ask


def serve(handle: int) -> None:
    """Run a peer: answer the requests that come through a pipe, until it is closed."""
    os.set_inheritable(handle, False)
    with Connection(handle) as connection:
        _serve(connection)


def _serve(connection: Connection) -> None:
    counter = _Counter()
    peer: Any = None
    limit = 0
    while True:
        try:
            kind, content = connection.recv()
        except EOFError:
            return
        counter.reset()
        answer: dict[str, Any]
        try:
            if kind == "fit":
                limit = content["memory"]
                _limit_memory(limit)
                rows, model = unpack(content["rows"]), _model(connection, counter, content)
                peer, kept = _made(content)
                with counter.timing():
                    peer.fit(model, rows)
                answer = {"uses_norm": bool(peer.uses_norm), "keeps_immutable": kept}
            else:
                rows = unpack(content)
                with counter.timing():
                    found = _explained(peer, rows)
                answer = {"sets": _packed_sets(found, len(rows))}
            answer |= {"seconds": counter.seconds, "rows": counter.rows}
        except MemoryError:
            connection.send(("failed", f"needs more memory than the limit of {limit / 1e9:g} GB"))
            return
        except Exception as error:
            # The process that asks raises it.
            told = str(error) if isinstance(error, CountersetError) else _named(error)
            connection.send(("failed", told))
            return
        connection.send(("done", answer))


def _versions() -> list[str]:
    """Return the versions that a pickled model depends on."""
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return [python, np.__version__, pd.__version__, sklearn.__version__]


def _named(error: Exception) -> str:
    """Return the kind of an error with its first line; without one, with the line that raised."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        last = traceback.extract_tb(error.__traceback__)[-1]
        lines = [f"{last.line} ({Path(last.filename).name}, line {last.lineno})"]
    return f"{type(error).__name__}: {lines[0]}"


def _limit_memory(limit: int) -> None:
    """Limit what this process may reserve; systems without such a limit are left alone."""
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _made(told: dict[str, Any]) -> tuple[Any, bool]:
    """Return a new peer, and whether it was told what may not change."""
    kept = bool(told["immutable"]) and takes(told["peer"], "immutable")
    peer = find_peer(
        told["peer"], told["norm"], told["immutable"] if kept else (), alpha=told["alpha"]
    )
    return peer, kept


def _model(connection: Connection, counter: _Counter, told: dict[str, Any]) -> Any:
    """Return the model: a copy whose questions are counted, or one behind the pipe."""
    if "answers" in told and told.get("versions") != _versions():
        return _AskedModel(connection, counter, told["answers"])
    model = joblib.load(told["model"])
    for question in QUESTIONS:
        if hasattr(model, question):
            # The copy is this process's own. Networks are frozen.
            object.__setattr__(model, question, counter.count(getattr(model, question)))
    return model


def _explained(peer: Any, rows: Any) -> Any:
    """Return the sets of rows; one by one if some row has none (None stands there)."""
    try:
        return peer.explain_many(rows)
    except NoCounterfactualError:
        if len(rows) == 1:
            return [None]
        return [_explained(peer, rows[i : i + 1])[0] for i in range(len(rows))]


def _packed_sets(found: Any, expected: int) -> list[Any]:
    sets = [getattr(each, "counterfactuals", each) for each in found]
    if len(sets) != expected:
        raise ValueError(f"explain_many got {expected} rows and returned {len(sets)} sets")
    return [pack([] if each is None else each) for each in sets]


class KeptAnswers:
    """An explainer that asks a peer about each row only once, and keeps the answers in a file.

    The rows are asked about one at a time. Each answer is one line of the file, so that a run that
    is stopped loses no more than the row that it was at.

    Parameters
    ----------
    peer : IsolatedPeer or None
        The peer, fitted. None: nobody is asked, and None stands for a set that is not kept.
    identity : str
        What identifies the model, the training rows and the settings: an answer about others is
        not used.
    file : Path or None
        The file, in JSON lines. None: the answers are kept in memory only.

    Attributes
    ----------
    costs
        What the peer took for each row that was asked about, in the order of asking; NaN seconds
        for a row whose set is not kept.
    """

    def __init__(self, peer: IsolatedPeer | None, identity: str, file: Path | None) -> None:
        self.peer = peer
        self.costs: list[Cost] = []
        self._identity = identity
        self._file = file
        self._answers: dict[str, dict[str, Any]] = {}
        if file is not None and file.exists():
            self._answers = {
                answer["row"]: answer for answer in map(_parse, _lines(file)) if answer
            }

    def holds(self, row: Any) -> bool:
        """Return whether the set of a row, a table or matrix of one, is kept."""
        return self._key(row) in self._answers

    def explain_many(self, X: Any) -> list[Any]:
        """Return the set of each row."""
        return [self._explain(X[i : i + 1]) for i in range(len(X))]

    def _explain(self, row: Any) -> Any:
        key = self._key(row)
        if key not in self._answers:
            if self.peer is None:
                self.costs.append(Cost(float("nan"), 0))
                return None
            [found] = self.peer.explain_many(row)
            cost = {"seconds": round(self.peer.cost.seconds, 6), "rows": self.peer.cost.rows}
            self._keep({"row": key, **cost, "set": pack(found)})
        answer = self._answers[key]
        self.costs.append(Cost(answer["seconds"], answer["rows"]))
        return unpack(answer["set"])

    def _key(self, row: Any) -> str:
        asked = json.dumps([self._identity, np.asarray(row).tolist()], default=str)
        return sha256(asked.encode()).hexdigest()[:16]

    def _keep(self, answer: dict[str, Any]) -> None:
        self._answers[answer["row"]] = answer
        if self._file is None:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a+b") as stream:
            # A process that was stopped may have left half a line: it must not swallow this one.
            if stream.tell() and not _lines(self._file)[-1].endswith(b"\n"):
                stream.write(b"\n")
            stream.write(json.dumps(answer, default=str).encode() + b"\n")


def _lines(file: Path) -> list[bytes]:
    return file.read_bytes().splitlines(keepends=True)


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return an answer; None for half a line."""
    try:
        answer: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    return answer


@dataclass
class PeerRunner:
    """Runs the cells of peers.

    An input is followed by its noisy copies. So a peer that is stopped by its time limit has
    finished whole inputs, and is measured on these.

    Parameters
    ----------
    experiment : Experiment
        The rows and the networks.
    norms : sequence of int, default=(1, 2)
        The norms to measure in. All are measured in one process.
    inputs : int, default=20
        The number of inputs, out of those of the final results.
    repeats : int, default=3
        The number of noisy copies of each input.
    time_limit : float, default=600.0
        Seconds for one peer on one dataset and in one norm. 0: no peer is run, and what is kept is
        measured.
    python : str, default=None
        The interpreter to run peers with. None: that of the environment that
        ``counterset peers --install`` made for its library, or this one.
    explained : Path or None, default=None
        A folder where each set is kept as soon as it is found, so that a run that was stopped
        continues with the next row. None: nothing is kept.
    memory_limit : float, default=4e9
        Bytes for one peer.
    """

    experiment: Experiment
    norms: Sequence[int] = (1, 2)
    inputs: int = 20
    repeats: int = 3
    time_limit: float = 600.0
    python: str | None = None
    explained: Path | None = None
    memory_limit: float = MEMORY
    _done: dict[tuple[str, str], dict[int, pd.DataFrame] | CellError] = field(
        default_factory=dict, init=False, repr=False
    )

    def __call__(self, cell: Cell) -> pd.DataFrame:
        """Return the table of a cell; raise :class:`CellError` if its peer fails.

        The table of a peer that has finished some inputs only has a column ``error``: why it did
        not finish the others.
        """
        key = cell.method, cell.dataset
        if key not in self._done:
            try:
                self._done[key] = self._run(*key)
            except CellError as error:
                self._done[key] = error
        outcome = self._done[key]
        if isinstance(outcome, CellError):
            raise outcome
        return outcome[cell.norm]

    def _run(self, name: str, dataset: str) -> dict[int, pd.DataFrame]:
        split, network = self.experiment.setup(dataset)
        rows = split.X_test[PROTOCOLS["final"].of(len(split.X_test))][: self.inputs]
        tables: dict[int, pd.DataFrame] = {}
        answers: KeptAnswers | None = None
        uses_norm, reason = True, ""
        for norm in self.norms:
            plain = self._plain(split, network, norm)
            if answers is None or uses_norm:
                asked = _asked_rows(rows, self.repeats, network, plain.distance_)
                answers, uses_norm, reason = self._answers(name, split, network, norm, asked)
            tables[norm] = self._measure(answers, network, rows, plain)
            if reason:
                if len(tables[norm]) == 0:
                    raise CellError(reason)
                tables[norm]["error"] = reason
        return tables

    def _answers(
        self, name: str, split: Split, network: Any, norm: int, asked: Sequence[Any]
    ) -> tuple[KeptAnswers, bool, str]:
        """Ask a peer about rows whose sets are not kept yet.

        Return the answers, whether they depend on the norm, and why some are missing.
        """
        identity = identity_of(split, network)
        for of_norm in (None, norm):
            answers = KeptAnswers(None, identity, self._file_of(name, split.name, of_norm))
            missing = sum(not answers.holds(row) for row in asked)
            if missing < len(asked) and (missing == 0 or self.time_limit == 0):
                break
        if missing == 0:
            return answers, of_norm is not None, ""
        reason = "not finished"
        if self.time_limit > 0:
            peer = IsolatedPeer(
                name,
                norm,
                alpha=alpha_of(split.name, len(split.X_train)),
                time_limit=self.time_limit,
                memory_limit=self.memory_limit,
                python=self.python,
            )
            with peer:
                try:
                    peer.fit(network, split.X_train)
                    of_norm = norm if peer.uses_norm else None
                    file = self._file_of(name, split.name, of_norm)
                    answers = KeptAnswers(peer, identity, file)
                    for row in asked:
                        answers.explain_many(row)
                    reason = ""
                except TimeLimitError as error:
                    reason = str(error)
            answers.peer = None
        if reason:
            done = sum(answers.holds(row) for row in asked)
            reason += f"; {done} of {len(asked)} explanations are done"
            if self.explained is not None:
                reason += ", and --retry continues with the next one"
        return answers, of_norm is not None, reason

    def _plain(self, split: Split, network: Any, norm: int) -> Any:
        """Return a fitted explainer, for the distance that is measured in."""
        explainer = DiverseExplainer.paper(network, distance=f"l{norm}", scale=scale_of(split))
        return explainer.fit(split.X_train)

    def _measure(self, answers: KeptAnswers, network: Any, rows: Any, plain: Any) -> pd.DataFrame:
        """Measure those inputs of which all sets are there."""
        answers.costs.clear()
        try:
            table = evaluate(
                answers, rows, repeats=self.repeats, model=network, distance=plain.distance_
            )
        except CountersetError as error:  # what the peer returned cannot be read
            raise CellError(str(error)[:LONGEST_MESSAGE]) from error
        # The time is that of the peer, also where the set was there already.
        seconds = [cost.seconds for cost in answers.costs]
        table["seconds"] = seconds_of_pairs(seconds, table["same_class"], self.repeats)
        finished = table["seconds"].notna().groupby(table["input"]).transform("all")
        return table[finished].reset_index(drop=True)

    def _file_of(self, peer: str, dataset: str, norm: int | None) -> Path | None:
        """Return the file that keeps the sets of a peer on a dataset."""
        if self.explained is None:
            return None
        name = f"{peer.replace(':', '.')}-{dataset}" + ("" if norm is None else f"-L{norm}")
        return self.explained / f"{name}.jsonl"


def _asked_rows(rows: Any, repeats: int, model: Any, distance: Any) -> list[Any]:
    """Return the rows that an evaluation explains, one by one: each input, then its copies."""
    recorder = _Recorder()
    table = evaluate(recorder, rows, repeats=repeats, model=model, distance=distance)
    inputs, copies = recorder.asked[: len(rows)], recorder.asked[len(rows) :]
    owners = table.groupby("input", sort=False)["same_class"].sum()
    asked, first = [], 0
    for x, count in zip(inputs, owners, strict=True):
        asked += [x, *copies[first : first + count]]
        first += count
    return asked


class _Recorder:
    """An explainer that finds nothing, and records what it is asked about."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def explain_many(self, X: Any) -> list[None]:
        self.asked += [X[i : i + 1] for i in range(len(X))]
        return [None] * len(X)


def seconds_of_pairs(seconds: Sequence[float], found: pd.Series, repeats: int) -> Vector:
    """Return the mean time of the two explanations of each pair.

    The inputs are explained first, and then those copies that were found.
    """
    inputs = len(found) // repeats
    own = np.repeat(seconds[:inputs], repeats)
    copies = own.copy()
    copies[found.to_numpy()] = seconds[inputs:]
    pairs: Vector = (own + copies) / 2
    return pairs
