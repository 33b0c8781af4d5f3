"""Train two prototypes of three terms each on scikit-learn's breast cancer data, and print what came out."""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score, train_test_split

from smallearn import SMaLLClassifier


def main() -> None:
    """Hold out 30% of the rows, train on the rest, print the rule, its test accuracy and its certificate."""
    data = load_breast_cancer()
    X, y = data.data, data.target_names[data.target]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=data.target, random_state=0)

    # From some starts a prototype loses its rows and is dropped, where that lowers the objective; here both stay.
    clf = SMaLLClassifier(n_prototypes=2, n_nonzero=3, alpha=1e-2, positive_class="benign", random_state=3)
    clf.fit(X_train, y_train)
    print(clf.model_.with_feature_names(data.feature_names))

    print(f"\nTest accuracy: {clf.score(X_test, y_test):.1%} of the {len(y_test)} rows held out.")
    splits = StratifiedShuffleSplit(20, test_size=0.3, random_state=0)
    scores = cross_val_score(clf, X, y, cv=splits)
    print(f"Over 20 such splits: {scores.mean():.1%} ± {scores.std():.1%} (the paper reports over 94%).")


if __name__ == "__main__":
    main()
