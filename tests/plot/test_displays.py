"""Pictures behind scikit-learn's interface for displays."""

import matplotlib.pyplot as plt

from smallearn import SMaLLClassifierCV, plot


def test_displays_draw_from_a_fitted_classifier_and_draw_again(iris):
    X, y = iris
    clf = SMaLLClassifierCV(2, literals="raw", n_prototypes=1, alphas=[0.01], cv=3, n_init=1, random_state=0)
    clf.fit(X[:, 2:], y)
    _, ax = plt.subplots()
    shown = plot.FrontierDisplay.from_estimator(clf, ax=ax)
    assert shown.ax_ is ax
    assert shown.figure_ is ax.figure
    assert shown.ax_.lines[0].get_ydata().tolist() == [step.score for step in clf.model_.selection.frontier]
    for display in (plot.ViolinDisplay, plot.DecisionSurfaceDisplay):
        shown = display.from_estimator(clf, X[:, 2:], y)
        before = shown.ax_
        assert shown.plot() is shown
        assert shown.ax_ is not before
        assert shown.figure_ is shown.ax_.figure
        _, ax = plt.subplots()
        assert shown.plot(ax).ax_ is ax
