"""How people call the features of the bundled data, their units and their values."""

from counterset.tables.schema import Schema

__all__ = ["DIABETES", "GERMAN_CREDIT"]

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
