"""The datasets that ship with the package, and the form in which every dataset is returned."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from types import MappingProxyType

import pandas as pd
from pandas.api.types import is_numeric_dtype

from counterset.tables.schema import Schema

__all__ = [
    "BUNDLED",
    "DIABETES",
    "GERMAN_CREDIT",
    "Dataset",
    "load_diabetes",
    "load_german_credit",
    "load_spambase",
    "with_categories",
]


# No generated equality: comparing frames gives a frame, which has no truth value.
@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A named table of features with the class of each row.

    Parameters
    ----------
    name : str
        The name under which :func:`counterset.datasets.load` finds it.
    X : DataFrame
        The features, one row per case.
    y : Series
        The class of each row of `X`, with the same index. Its name is that of the target.
    description : str
        What a row is, what the target means, and the licence.
    schema : Schema, default=Schema()
        Labels, units and texts of the features, for ``schema=`` of an explainer.

    Examples
    --------
    >>> import pandas as pd
    >>> Dataset(
    ...     name="loans",
    ...     X=pd.DataFrame({"income": [20, 35, 50]}),
    ...     y=pd.Series(["declined", "approved", "approved"], name="decision"),
    ...     description="Three invented loan applications.",
    ... )
    Dataset('loans', 3 rows x 1 features, decision: approved 2, declined 1)
    """

    name: str
    X: pd.DataFrame
    y: pd.Series
    description: str
    schema: Schema = field(default_factory=Schema)

    def __repr__(self) -> str:
        """Return the name, the shape and the class counts, but no rows."""
        n_rows, n_features = self.X.shape
        counts = self.y.value_counts().sort_index()
        classes = ", ".join(f"{label} {count}" for label, count in counts.items())
        return (
            f"Dataset({self.name!r}, {n_rows} rows x {n_features} features, "
            f"{self.y.name}: {classes})"
        )


def load_diabetes() -> Dataset:
    """Load the Pima diabetes data: 768 women, 8 numeric features, `Outcome` 0 or 1.

    Returns
    -------
    Dataset
        A new copy each time.

    Notes
    -----
    A zero in `Glucose`, `BloodPressure`, `SkinThickness`, `Insulin` or `BMI` stands for a value
    that was not measured. The zeros are left in place, as in the original.

    Examples
    --------
    >>> diabetes = load_diabetes()
    >>> diabetes
    Dataset('diabetes', 768 rows x 8 features, Outcome: 0 500, 1 268)
    >>> diabetes.X[["Glucose", "BMI", "Age"]].head(2)
       Glucose   BMI  Age
    0      148  33.6   50
    1       85  26.6   31
    """
    table = _read("diabetes.csv.gz")
    return Dataset(
        name="diabetes",
        X=table.drop(columns="Outcome"),
        y=table["Outcome"].copy(),
        description=(
            "Each row is a woman of Pima heritage, at least 21 years old, living near Phoenix, "
            "Arizona. Outcome is 1 if she was found to have diabetes by the criteria of the World "
            "Health Organization, and 0 if not. A zero in Glucose, BloodPressure, SkinThickness, "
            "Insulin or BMI stands for a value that was not measured. Licence: CC0 1.0."
        ),
        schema=DIABETES,
    )


def load_german_credit() -> Dataset:
    """Load the German credit data: 1000 loans, 20 mixed features, `class` good or bad.

    The text columns are of dtype `category`. Three of them are ordered, from least to most:
    `checking_status`, `savings_status` and `employment`.

    Returns
    -------
    Dataset
        A new copy each time.

    Notes
    -----
    The code table behind the readable values is known to be wrong in places [1]_. In particular,
    `personal_status` does not tell women from men reliably. Use the data to try methods out, not
    to learn about lending.

    References
    ----------
    .. [1] U. Grömping (2019). South German Credit Data: Correcting a Widely Used Data Set.
       Report 4/2019, Reports in Mathematics, Physics and Chemistry, Department II, Beuth
       University of Applied Sciences Berlin.

    Examples
    --------
    >>> credit = load_german_credit()
    >>> credit
    Dataset('german_credit', 1000 rows x 20 features, class: bad 300, good 700)
    >>> list(credit.X["employment"].cat.categories)
    ['unemployed', '<1', '1<=X<4', '4<=X<7', '>=7']
    """
    table = _read("german_credit.csv.gz")
    features = table.drop(columns="class")
    return Dataset(
        name="german_credit",
        X=with_categories(features, _GERMAN_CREDIT_ORDERS),
        y=table["class"].copy(),
        description=(
            "Each row is a loan granted by a bank in southern Germany between 1973 and 1975, "
            "described by the loan and by the person who took it; amounts are in Deutsche Mark. "
            "The class is 'good' if the contract was kept and 'bad' if not; bad loans are "
            "heavily over-represented. "
            "Licence: CC BY 4.0, Hans Hofmann, UCI Machine Learning Repository, "
            "doi:10.24432/C5NC77."
        ),
        schema=GERMAN_CREDIT,
    )


def load_spambase() -> Dataset:
    """Load the Spambase data: 4601 e-mails, 57 numeric features, `class` spam or nonspam.

    Returns
    -------
    Dataset
        A new copy each time.

    Examples
    --------
    >>> load_spambase()
    Dataset('spambase', 4601 rows x 57 features, class: nonspam 2788, spam 1813)
    """
    table = _read("spambase.csv.gz")
    return Dataset(
        name="spambase",
        X=table.drop(columns="class"),
        y=table["class"].copy(),
        description=(
            "Each row is an e-mail received at Hewlett-Packard Labs: how often 48 words and 6 "
            "characters occur in it, in percent, and how long its runs of capital letters are. "
            "The class says whether it was found to be spam. "
            "Licence: CC BY 4.0, Mark Hopkins and others, UCI Machine Learning Repository, "
            "doi:10.24432/C53G6X."
        ),
    )


def _read(file_name: str) -> pd.DataFrame:
    with files("counterset.datasets").joinpath("data", file_name).open("rb") as stream:
        return pd.read_csv(
            stream,
            compression="gzip",
            # "none" is a value in German credit, and no bundled file has an empty cell.
            na_filter=False,
        )


def with_categories(frame: pd.DataFrame, orders: Mapping[str, tuple[str, ...]]) -> pd.DataFrame:
    """Convert text columns to the dtype `category`, ordered where an order is known."""
    dtypes: dict[str, pd.CategoricalDtype] = {}
    for column in frame.columns:
        if column in orders:
            dtypes[column] = pd.CategoricalDtype(list(orders[column]), ordered=True)
        elif not is_numeric_dtype(frame[column]):
            dtypes[column] = pd.CategoricalDtype(sorted(frame[column].dropna().unique()))
    return frame.astype(dtypes)


DIABETES = Schema(
    labels={
        "Pregnancies": "number of pregnancies",
        "Glucose": "glucose level",
        "BloodPressure": "diastolic blood pressure",
        "SkinThickness": "skin thickness",
        "Insulin": "insulin level",
        "BMI": "body mass index",
        "DiabetesPedigreeFunction": "diabetes pedigree",
    },
    units={
        "Glucose": "mg/dl",
        "BloodPressure": "mmHg",
        "SkinThickness": "mm",
        "Insulin": "µU/ml",
        "BMI": "kg/m²",
        "Age": "years",
    },
)
GERMAN_CREDIT = Schema(
    labels={
        "checking_status": "checking account",
        "savings_status": "savings",
        "employment": "time in the present job",
        "installment_commitment": "instalment rate (1 to 4)",
        "personal_status": "personal status",
        "other_parties": "other parties to the loan",
        "residence_since": "years at the present address",
        "property_magnitude": "most valuable property",
        "other_payment_plans": "other payment plans",
        "existing_credits": "number of loans at this bank",
        "num_dependents": "number of dependants",
        "own_telephone": "telephone",
        "foreign_worker": "status as a foreign worker",
    },
    units={"duration": "months", "credit_amount": "DM", "age": "years"},
    texts={
        "checking_status": {
            "no checking": "none",
            "<0": "below 0 DM",
            "0<=X<200": "0-199 DM",
            ">=200": "200 DM or more",
        },
        "savings_status": {
            "no known savings": "none known",
            "<100": "below 100 DM",
            "100<=X<500": "100-499 DM",
            "500<=X<1000": "500-999 DM",
            ">=1000": "1,000 DM or more",
        },
        "employment": {
            "<1": "less than a year",
            "1<=X<4": "1-3 years",
            "4<=X<7": "4-6 years",
            ">=7": "7 years or more",
        },
        "credit_history": {
            "all paid": "all loans at this bank paid",
            "critical/other existing credit": "critical or loans elsewhere",
            "delayed previously": "paid late before",
            "existing paid": "present loans paid so far",
            "no credits/all paid": "no loans or all paid",
        },
        "personal_status": {
            "female div/dep/mar": "woman, divorced or married",
            "male div/sep": "man, divorced or separated",
            "male mar/wid": "man, married or widowed",
            "male single": "man, single",
        },
        "other_parties": {"co applicant": "a co-applicant", "guarantor": "a guarantor"},
        "property_magnitude": {
            "car": "a car",
            "life insurance": "a life insurance",
            "no known property": "none known",
        },
        "other_payment_plans": {"bank": "at a bank", "stores": "at stores"},
        "housing": {"for free": "rent-free", "own": "own home", "rent": "rented"},
        "job": {
            "high qualif/self emp/mgmt": "highly qualified or self-employed",
            "unemp/unskilled non res": "unemployed or unskilled, not resident",
            "unskilled resident": "unskilled, resident",
        },
        "purpose": {"furniture/equipment": "furniture", "radio/tv": "radio or television"},
        "own_telephone": {"yes": "in the own name"},
    },
)
# From least to most. Having none, such as "no checking", is the lowest value, not a missing one.
_GERMAN_CREDIT_ORDERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "checking_status": ("no checking", "<0", "0<=X<200", ">=200"),
        "savings_status": ("no known savings", "<100", "100<=X<500", "500<=X<1000", ">=1000"),
        "employment": ("unemployed", "<1", "1<=X<4", "4<=X<7", ">=7"),
    }
)
BUNDLED: Mapping[str, Callable[[], Dataset]] = MappingProxyType(
    {
        "diabetes": load_diabetes,
        "german_credit": load_german_credit,
        "spambase": load_spambase,
    }
)
