"""Reads and renders recipe/recipe.yaml as rattler-build does, which refuses what it does not know: `make dist`."""

import sys
from pathlib import Path

from rattler_build import Stage0Recipe, VariantConfig

RECIPE = Path(__file__).resolve().parent.parent / "recipe" / "recipe.yaml"


def main() -> None:
    """Print what the recipe builds; fail unless it is one package."""
    rendered = Stage0Recipe.from_file(str(RECIPE)).render(VariantConfig())
    print(f"recipe.yaml renders: {', '.join(map(str, rendered))}")
    sys.exit(len(rendered) != 1)


if __name__ == "__main__":
    main()
