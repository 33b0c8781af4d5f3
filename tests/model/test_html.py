"""What a notebook shows: the rule, beside scikit-learn's diagram."""

from html.parser import HTMLParser

import pytest
import sklearn
from sklearn.datasets import load_iris

from smallearn import SMaLLClassifier, SMaLLClassifierCV
from smallearn.model import Prototype, SMaLLModel, Term
from tests.helpers.models import CARD, THREE, YES


class Words(HTMLParser):
    """The text of a page, and which tags it has; an end without a beginning is an error."""

    def __init__(self, text):
        super().__init__()
        self.words, self.tags, self.open = "", set(), []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in ("br", "input", "meta", "link", "path"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag != "path":
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data


@pytest.mark.parametrize("model", [CARD, THREE, YES], ids=["card", "three", "yes"])
def test_a_model_is_shown_by_its_rule(model):
    shown = Words(model._repr_html_())
    for term in model.terms:
        assert term.text in shown.words
    assert "Predict" in shown.words
    assert shown.tags <= {"div", "p", "b", "br", "table", "caption", "tbody", "tr", "td"}


def test_names_cannot_break_out():
    term = Term(0, 1.0, "<script>alert(1)</script>")
    model = SMaLLModel(("<b>", "&amp;"), "<U5", 1, (Prototype(1, 0.5, (term,)),))
    shown = Words(model._repr_html_())
    assert "script" not in shown.tags
    assert "<script>alert(1)</script>" in shown.words
    assert "Predict '&amp;' if this score" in shown.words


def test_a_fitted_estimator_has_its_rule_beside_the_diagram():
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = SMaLLClassifier(1, 2, random_state=0)
    assert "smallearn-model" not in clf._repr_html_()
    clf.fit(X, y)
    for shown in (clf._repr_html_(), clf._repr_mimebundle_()["text/html"]):
        assert "Predict the class with the highest score" in shown
        assert "sk-" in shown
        assert "SMaLLClassifier" in shown
    with sklearn.config_context(display="text"):
        assert set(clf._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(clf, "_repr_html_")


def test_a_chosen_model_shows_its_score():
    X, y = load_iris(return_X_y=True, as_frame=True)
    found = SMaLLClassifierCV(2, n_prototypes=1, literals="raw", alphas=[0.01], random_state=0).fit(X, y == 2)
    assert f"accuracy {found.best_score_:.1%} ±" in found._repr_html_()
