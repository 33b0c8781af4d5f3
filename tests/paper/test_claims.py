"""The paper's claims: how a verdict is reached, also at the limits."""

from pathlib import Path

import numpy as np
import pandas as pd

from smallearn.paper import big_picture, breast_cancer, compare, data, published, sparse, table1
from smallearn.paper.claims import HOLDS, IN_PART, NOT, Claim, Outcome, table, verdict
from smallearn.paper.compare import Settings

ASKED = Settings(Path("out"), splits=20)


def test_claims_are_numbered_and_name_their_command():
    outcomes = {
        "surfaces": Outcome(summary="", claims=[Claim("a", "0.7", "0.8", verdict(True), "x")], settings=ASKED),
        "sparse": Outcome(
            summary="",
            claims=[Claim("b", "1", "2", verdict(False, True), "y"), Claim("c", "1", "2", verdict(False), "z")],
            settings=Settings(Path("out"), splits=5, seed=3),
        ),
    }
    assert table(outcomes).splitlines()[2:] == [
        "| 1 | a | 0.7 | 0.8 | holds | x | `smallearn paper surfaces --splits 20` |",
        "| 2 | b | 1 | 2 | holds in part | y | `smallearn paper sparse --splits 5 --seed 3` |",
        "| 3 | c | 1 | 2 | does not hold | z | `smallearn paper sparse --splits 5 --seed 3` |",
    ]


def verdicts(claims):
    return [claim.verdict for claim in claims]


def test_verdicts_of_table1():
    means = {
        name: {method: line[method][0] for method in line if method != "SMaLL"}
        for name, line in published.TABLE1.items()
    }
    accuracy = pd.DataFrame.from_dict(means, orient="index")
    accuracy.loc["pwLinear", "GP"] = 0.8
    accuracy[table1.PAPER] = [line["SMaLL"][0] for line in published.TABLE1.values()]
    accuracy[table1.OURS] = 0.5
    claims = table1._claims(accuracy, compare.ranks(accuracy))
    assert verdicts(claims) == [HOLDS, HOLDS, HOLDS, NOT]
    assert claims[0].published == "at least as accurate as all ten rivals on 14 of 17 data sets"
    assert "on 14 of 17, within" in claims[0].measured
    deviation = np.array([line["SMaLL"][1] for line in published.TABLE1.values()])
    accuracy[table1.PAPER] -= deviation  # just within the deviation, and no longer ahead
    claims = table1._claims(accuracy, compare.ranks(accuracy))
    assert verdicts(claims)[:2] == [NOT, HOLDS]
    accuracy.iloc[:2, accuracy.columns.get_loc(table1.PAPER)] -= 0.02
    assert verdicts(table1._claims(accuracy, compare.ranks(accuracy)))[1] == IN_PART
    accuracy.iloc[:3, accuracy.columns.get_loc(table1.PAPER)] -= 0.02
    assert verdicts(table1._claims(accuracy, compare.ranks(accuracy)))[1] == NOT
    assert [line.split(" ")[0] for line in table1._deviating(accuracy)] == ["bankruptcy", "vineyard", "pwLinear"]


def test_verdicts_of_the_sparse_sets():
    names = [source.name for source in data.WIDE]
    accuracy = pd.DataFrame(0.8, index=names, columns=sparse.NAMES)
    per_feature = pd.DataFrame(1.0, index=names, columns=sparse.NAMES)
    per_feature[[sparse.PAPER, sparse.OURS]] = 10.0
    assert verdicts(sparse._claims(accuracy, per_feature, 6)) == [HOLDS, HOLDS, HOLDS, HOLDS]
    accuracy.loc[accuracy.index.str.startswith("fri_"), sparse.PAPER] = 0.79
    per_feature.iloc[:6, per_feature.columns.get_loc(sparse.PAPER)] = 9.9
    assert verdicts(sparse._claims(accuracy, per_feature, 7)) == [IN_PART, HOLDS, IN_PART, NOT]
    accuracy[sparse.OURS] = 0.79
    per_feature[sparse.PAPER] = 1.0
    assert verdicts(sparse._claims(accuracy, per_feature, 6)) == [NOT, NOT, NOT, HOLDS]


def test_verdicts_of_the_big_picture():
    accuracy = pd.Series(0.8, index=big_picture.NAMES)
    deviation, per_feature = accuracy * 0.0 + 0.02, accuracy * 0.0 + 1.0
    accuracy["GB"], per_feature[big_picture.OURS] = 0.85, 14.5
    accuracy[big_picture.OURS] = 0.84
    assert verdicts(big_picture._claims("x", accuracy, deviation, per_feature)) == [HOLDS] * 4
    accuracy[big_picture.OURS], accuracy["RF"], per_feature["AB"] = [0.95, 0.5], 0.86, 8.0
    assert verdicts(big_picture._claims("x", accuracy, deviation, per_feature)) == [HOLDS, IN_PART, IN_PART, IN_PART]
    per_feature[big_picture.OURS] = [14.5, 7.0]
    assert verdicts(big_picture._claims("x", accuracy, deviation, per_feature))[:2] == [IN_PART, NOT]


def test_verdicts_of_breast_cancer():
    def results(paper, ours, terms):
        return pd.DataFrame(
            {"method": breast_cancer.NAMES * 2, "accuracy": [paper, ours] * 2, "terms": [terms, "1|2", "1 22|22", "1"]}
        )

    assert verdicts(breast_cancer._claims(results(0.95, 0.9, "3 22|4 22"), ASKED)) == [HOLDS, HOLDS]
    claims = breast_cancer._claims(results(0.94, 0.95, "3 22|4"), ASKED)
    assert verdicts(claims) == [IN_PART, IN_PART]
    assert claims[1].measured.startswith("SMaLL k=3: in 1 of 2 models with two prototypes; ")
    alone = results(0.9, 0.9, "22").iloc[:2]  # a single prototype shares nothing
    assert verdicts(breast_cancer._claims(alone, ASKED)) == [NOT, NOT]
