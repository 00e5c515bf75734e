"""Draw the pictures of the README and of the guides.

Run as ``python docs/pictures.py docs``; needs matplotlib.
"""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
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
    LineSearch,
    NearestCandidates,
    datasets,
)
from counterset.plots import (
    ChangesDisplay,
    MapDisplay,
    MenuDisplay,
    StabilityDisplay,
    StepsDisplay,
)

#: Dots per inch: sharp on a page of 800 pixels, and less than 100 kB each.
DPI = 110


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
    for name, display in displays.items():
        figure = display.plot().figure_
        figure.savefig(Path(folder) / f"{name}.png", dpi=DPI, bbox_inches="tight")


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


if __name__ == "__main__":
    main(sys.argv[1])
