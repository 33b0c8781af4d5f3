"""Internal: from X and y to a trained model.

``data`` is what is learned from, ``solve`` finds a model within a budget, ``choose`` compares models on held-out rows.
``kernels.py`` has every compiled loop.
"""
