"""StepsDisplay: the paper's Figure 3, the four steps on a map of one explanation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from counterset._base.arrays import Mask, Matrix
from counterset.exceptions import InvalidInputError
from counterset.explainer import DiverseExplainer
from counterset.explanations.explanation import Explanation
from counterset.plots.map import (
    Background,
    ask_background,
    draw_background,
    is_reached_as,
    map_of,
    name_areas,
    sides_of,
)
from counterset.plots.style import (
    Ink,
    axes_or_new,
    check_one,
    draw_input,
    draw_note,
    draw_number,
    title_of,
    without_signs,
)
from counterset.strategies.paper import Paper
from counterset.strategies.ranking import Ranking
from counterset.tables.table import changed
from counterset.words.outcomes import Outcomes
from counterset.words.templates import Templates

__all__ = ["StepsDisplay"]

TITLES = (
    "1. All with another decision",
    "2. The nearest of them",
    "3. In different directions",
    "4. Moved to the boundary",
)


class StepsDisplay:
    """The four steps as a strip of four maps, as Figure 3 of the paper draws them.

    Step 1: all training rows with another decision. Step 2: those that are left after the cut-off.
    Step 3: the diverse ones that were chosen. Step 4: the lines to them, and the options, numbers,
    where the line search stopped. What a step drops is a grey cross. A new figure has the decision
    above the panels.

    With constraints or few changes, candidates are moved before step 3. They are drawn where the
    training data has them, and the options at their true distance: the lines lead from the input to
    the options, and on to the candidates.

    Parameters
    ----------
    background, sides
        What the model says, and the decision on the input and on the options.
    options
        The positions of the options, ``(n, 2)``; the input stands at (0, 0).
    candidates
        The positions of the candidates, ``(m, 2)``.
    kept, chosen
        Which of them are left after step 2, and after step 3.
    examples
        The position of the training row that each option was searched towards, ``(n, 2)``.
    on_lines
        Whether the options change the same features as these rows, so that they lie on the lines
        to them; the panel of step 4 says so if they do not.
    title
        The decision and how many options there are.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn last: four Axes, and their figure.

    See Also
    --------
    MapDisplay : The options alone.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> approve = lambda rows: rows.sum(axis=1) > 1
    >>> explainer = DiverseExplainer(approve, max_counterfactuals=2).fit(X)
    >>> display = StepsDisplay.from_explanation(explainer.explain([0.25, 0.5]), explainer)
    >>> bool(display.kept.all()), int(display.chosen.sum())
    (True, 2)
    """

    size = (13.0, 4.25)

    def __init__(
        self,
        background: Background,
        sides: tuple[str, str],
        options: Matrix,
        candidates: Matrix,
        kept: Mask,
        chosen: Mask,
        examples: Matrix,
        *,
        on_lines: bool = True,
        title: str = "",
    ) -> None:
        self.title = title
        self.background = background
        self.sides = sides
        self.options = options
        self.candidates = candidates
        self.kept = kept
        self.chosen = chosen
        self.examples = examples
        self.on_lines = on_lines

    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        explainer: DiverseExplainer,
        *,
        outcomes: Mapping[Any, str] | None = None,
    ) -> Self:
        """Prepare the strip of one explanation; steps 1 and 2 are taken again.

        Parameters
        ----------
        explainer
            The fitted explainer that made the explanation.
        outcomes
            From labels to how people call them, for the title and the areas.
        """
        check_one(explanation)
        pool = explainer.training_.pool
        from_rows = explanation.examples[explanation.examples >= 0]
        if not len(explanation) or not np.isin(from_rows, pool.training_index).all():
            raise InvalidInputError(
                "The steps are drawn for options that were searched towards training rows, and "
                "this explanation has none, or others. Draw its map: MapDisplay."
            )
        by_row = {int(row): i for i, row in enumerate(pool.training_index)}
        # An option that comes from no training row (-1) stands for one itself.
        examples = explanation.coded.matrix.copy()
        for i in np.flatnonzero(explanation.examples >= 0):
            examples[i] = pool.matrix[by_row[int(explanation.examples[i])]]
        layout = map_of(explanation, explainer, beyond=examples)
        background = ask_background(layout, explanation, explainer)
        labels = explainer.classes_[pool.codes]
        at = np.flatnonzero(is_reached_as(explanation, labels))
        x = pool.distance.coordinates(explanation.coded.input[None, :])
        rows = pool.training_index[at]
        ranking = Ranking(x, pool.embedded.coordinates[at], rows, pool.distance.in_space)
        if isinstance(explainer.strategy, Paper):
            explainer.strategy.candidates.cut(ranking)
        kept = np.zeros(len(at), dtype=bool)
        kept[ranking.left()[1]] = True
        names = Outcomes(explanation, Templates.read(), outcomes or {}, quoted=False)
        return cls(
            background,
            sides_of(explanation, background, names.text),
            layout.options,
            layout.place(pool.matrix[at]),
            kept,
            np.isin(rows, explanation.examples),
            layout.ends,
            title=title_of(explanation, outcomes),
            on_lines=bool(
                (explanation.changed == changed(explanation.coded.input, examples)).all()
            ),
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw into four axes, or into a new figure."""
        self.ax_ = axes_or_new(ax, self.size, len(TITLES))
        self.figure_ = self.ax_[0].figure
        alive = (np.ones_like(self.kept), self.kept, self.chosen, self.chosen)
        if ax is None:
            self.figure_.suptitle(without_signs(self.title), fontsize=11)
        ink = Ink.of(self.ax_[0])
        for axis, title, now in zip(self.ax_, TITLES, alive, strict=True):
            draw_background(axis, self.background, ink)
            axis.set_title(title, fontsize=10)
            self._draw_candidates(axis, now, ink)
            draw_input(axis, (0, 0), ink, 7)
        taken = np.vstack([self.candidates[self.chosen], self.options])
        unnamed = name_areas(self.ax_[2], self.background, self.sides, ink, taken)
        notes = [*unnamed]
        last = self.ax_[3]
        for i, (option, example) in enumerate(zip(self.options, self.examples, strict=True)):
            last.plot(*zip((0, 0), example, strict=True), ":", color=ink.text, zorder=3)
            draw_number(last, option, i + 1, ink)
        if not self.on_lines:
            notes.append("They change less than the rows they come from.")
        draw_note(self.ax_[0], "Ring: the input. Dots: training rows.\nCrosses: what is left out.")
        draw_note(last, "\n".join(["Numbers: the options.", *notes]))
        return self

    def _draw_candidates(self, axis: Any, now: Mask, ink: Ink) -> None:
        axis.plot(*self.candidates[~now].T, "x", color=ink.muted, markersize=3, alpha=0.5, zorder=2)
        axis.plot(
            *self.candidates[now].T, "o", color=ink.colour(1), markeredgecolor=ink.paper,
            markersize=6, zorder=4,
        )  # fmt: skip
