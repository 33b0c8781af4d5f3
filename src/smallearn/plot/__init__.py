"""Pictures of models: what each term adds, decision surfaces, accuracy against size, one decision, calibration.

Each function draws into the Axes that it is given, or into a new figure, and returns the Axes. Colour is never the only
difference. Needs matplotlib (``pip install 'smallearn[plot]'``), which is imported when the first picture is drawn.
"""

from smallearn.plot._contributions import contributions
from smallearn.plot._decision_surface import decision_surface
from smallearn.plot._displays import DecisionSurfaceDisplay, FrontierDisplay, ViolinDisplay
from smallearn.plot._frontier import frontier
from smallearn.plot._reliability import reliability
from smallearn.plot._score_card import score_card
from smallearn.plot._violins import violins

__all__ = [
    "DecisionSurfaceDisplay",
    "FrontierDisplay",
    "ViolinDisplay",
    "contributions",
    "decision_surface",
    "frontier",
    "reliability",
    "score_card",
    "violins",
]
