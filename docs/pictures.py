"""Draw all pictures of the README and of the guides, but for those of the explorer page.

Run as ``python docs/pictures.py docs``; needs matplotlib. Every picture is drawn twice, for light
and for dark pages: ``map.png`` and ``map_dark.png``. The site shows the one that suits.
"""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from figure_1 import figure_1
from figure_2 import figure_2, proposition_1
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import make_moons
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from counterset import (
    Constraints,
    DiverseExplainer,
    Explanation,
    FewerCounterfactualsWarning,
    LineSearch,
    Nearest,
    NearestCandidates,
    Schema,
    datasets,
)
from counterset.plots import (
    ChangesDisplay,
    MapDisplay,
    MenuDisplay,
    StabilityDisplay,
    StepsDisplay,
)
from counterset.plots.style import Ink, draw_input, draw_number

#: Dots per inch: sharp on a page of 800 pixels, and less than 150 kB each.
DPI = 110
#: The background of the site's dark pages.
SLATE = "#1e2129"
PAPERS = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
#: From the endings of the files' names to the styles of matplotlib.
STYLES: dict[str, Any] = {"": "default", "_dark": ["dark_background", dict.fromkeys(PAPERS, SLATE)]}


def main(folder: str) -> None:
    mpl.use("agg")
    # The applicant of the demo, of the README and of the tutorial.
    explanation, explainer = explain_applicant(held_out=True)
    displays = {
        "tutorial_changes": ChangesDisplay.from_explanation(explanation),
        "tutorial_map": MapDisplay.from_explanation(explanation, explainer),
        "steps": steps(),
    }
    # The applicant of the page on plots.
    explanation, explainer = explain_applicant(held_out=False)
    displays |= {
        "changes": ChangesDisplay.from_explanation(explanation),
        "map": MapDisplay.from_explanation(explanation, explainer),
        "menu": MenuDisplay.from_explanation(explanation),
        "stability": StabilityDisplay.from_explanation(explanation, explainer),
    }
    draw_nearest_steps = nearest_steps()
    for ending, style in STYLES.items():
        with plt.style.context(style):
            figures = {name: display.plot().figure_ for name, display in displays.items()}
            figures |= {"nearest_steps": draw_nearest_steps(), "figure_1": figure_1()}
            figures |= {"figure_2": figure_2(), "proposition_1": proposition_1()}
        for name, figure in figures.items():
            file = Path(folder) / f"{name}{ending}.png"
            figure.savefig(file, dpi=DPI, bbox_inches="tight", facecolor=figure.get_facecolor())
            plt.close(figure)


def explain_applicant(*, held_out: bool) -> tuple[Explanation, DiverseExplainer]:
    """Return the explanation of the first applicant who is declined, and what made it.

    ``held_out`` says whether the model did not see the applicant.
    """
    credit = datasets.load("german_credit")
    X, y, others = credit.X, credit.y, credit.X
    if held_out:
        X, others, y, _ = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    text = make_column_selector(dtype_include="category")
    encode = make_column_transformer((OneHotEncoder(), text), remainder="passthrough")
    model = make_pipeline(encode, GradientBoostingClassifier(random_state=0)).fit(X, y)
    limits = Constraints(immutable=["age", "personal_status"])
    explainer = DiverseExplainer(model, schema=credit.schema, constraints=limits).fit(X)
    declined = others[model.predict(others) == "bad"].iloc[0]
    return explainer.explain(declined, target="good"), explainer


def steps() -> StepsDisplay:
    """Return the paper's four steps, for a small network on two half moons."""
    X, y = make_moons(300, noise=0.15, random_state=0)
    model = MLPClassifier((20,), max_iter=3000, random_state=0).fit(X, np.array(["a", "b"])[y])
    explainer = DiverseExplainer.paper(
        model, candidates=NearestCandidates(60), search=LineSearch(0.01), max_counterfactuals=3
    ).fit(X)
    return StepsDisplay.from_explanation(explainer.explain([0.5, 0.7]), explainer)


def nearest_steps() -> Callable[[], Any]:
    """Return what draws the way of the default, for an input with options for two features."""
    X, y = make_moons(300, noise=0.15, random_state=0)
    model = MLPClassifier((20,), max_iter=3000, random_state=0).fit(X, np.array(["a", "b"])[y])
    x = np.array([-0.5, 0.5])
    own = model.predict(x[None])[0]
    settings: dict[str, Any] = {"schema": Schema(step=0), "scale": "range"}
    explainer = DiverseExplainer(model, max_counterfactuals=3, **settings).fit(X)
    others = X[model.predict(X) == own][::6]
    theirs = [each.values[0] for each in explainer.explain_many(others, if_none="ignore")]
    changes = np.array(theirs) - others
    moved = x + np.where(changes != 0, np.array(theirs) - x, 0.0)
    works = model.predict(moved) != own
    everything = explainer.with_strategy(Nearest(diversity=None))
    everything.max_counterfactuals = 30
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        found, chosen = everything.explain(x).values, explainer.explain(x).values

    ends = [
        np.linspace(low - 0.3, high + 0.3, 200)
        for low, high in zip(X.min(0), X.max(0), strict=True)
    ]
    right, up = np.meshgrid(*ends)
    wanted = model.predict(np.column_stack([right.ravel(), up.ravel()])) != own
    titles = (
        "What others had to change",
        "The same, tried on the input",
        "Moved back, needless changes undone",
        "The nearest that differ",
    )

    def draw() -> Any:
        figure, axes = plt.subplots(1, 4, figsize=(13, 3.6), sharex=True, sharey=True)
        ink = Ink.of(axes[0])
        for axis, title in zip(axes, titles, strict=True):
            axis.contourf(
                right, up, wanted.reshape(right.shape), levels=[-1, 0.5, 2],
                colors=[ink.stays, ink.changes],
            )  # fmt: skip
            axis.contour(right, up, wanted.astype(float).reshape(right.shape), levels=[0.5],
                         colors=ink.text, linewidths=1)  # fmt: skip
            axis.set_title(title, fontsize=10)
            axis.set_xticks([])
            axis.set_yticks([])
            draw_input(axis, x, ink, 7)
        for start, step in zip(others, changes, strict=True):
            arrow = {"arrowstyle": "->", "color": ink.colour(1)}
            axes[0].annotate("", start + step, start, arrowprops=arrow)
        disc = {"color": ink.colour(1), "markeredgecolor": ink.paper, "markersize": 6}
        axes[1].plot(*moved[~works].T, "x", color=ink.muted, markersize=5)
        axes[1].plot(*moved[works].T, "o", **disc)
        axes[2].plot(*found.T, "o", **disc)
        axes[3].plot(*found.T, "o", color=ink.muted, markersize=3, alpha=0.6)
        for rank, option in enumerate(chosen, start=1):
            axes[3].plot(*zip(x, option, strict=True), ":", color=ink.text)
            draw_number(axes[3], option, rank, ink)
        figure.tight_layout()
        return figure

    return draw


if __name__ == "__main__":
    main(sys.argv[1])
