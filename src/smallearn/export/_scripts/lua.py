"""A model as a Lua module without dependencies, for Lua 5.1 and later and for LuaJIT.

Each term is written once, in `contributions`, from which everything else is computed. Sums are taken in the order of
the terms, so they are those of `SMaLLModel` to the last bit. Positions begin with 1, as everywhere in Lua. What is
read from a row lies in a table, as a function has room for 200 local names at most.
"""

from collections.abc import Iterator
from typing import Any

from smallearn.export._scripts._skeleton import Script, write
from smallearn.export._vectors import Cell

NAME, FILE = "Lua", "model.lua"
WHOLE = 2**63  # whole numbers from here on are text: Lua would round them


def to_lua(model: Any, *, inputs: str = "all", conformance: Any = None) -> str:
    """Write a model as a Lua module without dependencies.

    The module has ``predict``, ``scores``, ``decision``, ``probabilities`` and ``reason``, each of one row. A row is a
    table whose first feature is at 1. nil and NaN are missing values, a boolean is 1 or 0, and text is never a number.
    A row that the model cannot predict is an error. A class that is a whole number beyond 64 bits is the text of its
    digits. Lua before 5.3 rounds whole numbers beyond 53 bits.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    inputs : {"all", "used"}, default="all"
        Whether a row has all features of the training data or only those that the model uses, in order.
    conformance : array or table, default=None
        Rows, as `SMaLLModel.predict` takes them, that become test vectors: ``test()`` runs them and returns how many
        are predicted differently.

    Returns
    -------
    str
        The text of the module.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import to_lua
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> print(to_lua(clf).splitlines()[1])
    -- Predict 1 if the score is above 0, otherwise 0.
    """
    return write(Lua, model, inputs, conformance)


class Lua(Script):
    """Lua's numbers, text and conditions."""

    comment, indent, brackets, pair, terms_opening = "--", "  ", "{}", "{}", "{"

    def number(self, value: float) -> str:
        return repr(float(value))

    def string(self, text: str) -> str:
        return _literal(text)

    def cell(self, value: Cell) -> str:
        return _literal(value)

    def labels(self) -> list[str]:
        return [_literal(label) for label in self.flat.classes]

    def named_place(self, name: str, place: int) -> str:
        return f"M.{name} = {place + 1}"

    def value(self, position: int) -> str:
        return f"v[{self.layout.places[position] + 1}]"

    def reading(self, position: int) -> Iterator[str]:
        how = "number" if self.is_number(position) else "category"
        how = how if self.flat.inputs[position].may_be_missing else "needed"
        yield f"{self.value(position)} = {how}(x[{self.layout.places[position] + 1}])"

    def missing(self, position: int) -> str:
        return f"{self.value(position)} ~= {self.value(position)}"

    def equal(self, position: int, value: Cell) -> str:
        return f"{self.value(position)} == {_literal(value)}"

    def either(self, condition: str, yes: str, no: str) -> str:
        return f"({condition}) and {yes} or {no}"  # a number is never false

    def shared_name(self, number: int) -> str:
        return f"v.b{number}"

    def named(self, name: str, expression: str) -> str:
        return f"{name} = {expression}"

    def parts(self) -> dict[str, str | list[str]]:
        places = {"owners": self.flat.owners, "by_class": self.flat.by_class}
        return super().parts() | {name: self.sequence(str(one + 1) for one in of) for name, of in places.items()}

    template = """\
@heading@

local M = {}
@names@
M.CLASSES = @classes@
local OWNERS = @owners@ -- the class of each prototype, by position
local BY_CLASS = @by_class@ -- the prototypes, ordered by class
local INTERCEPTS = @intercepts@
local SCALE = @scale@ -- log-odds of one point of score
local TERMS = { -- for each prototype, the feature and the text of each term
  @terms@
}
local NAN = 0 / 0

local function finite(z)
  if z - z ~= 0 then error("The row has a value that is too large.", 0) end
  return z
end

-- What is read from a row: a number, text, or NaN for a missing value.
local function category(value)
  if value == nil then return NAN end
  if type(value) == "boolean" then return value and 1.0 or 0.0 end
  return value
end

local function number(value)
  local found = category(value)
  if type(found) ~= "number" then error("The row has a " .. type(found) .. " in the place of a number.", 0) end
  if found == math.huge or found == -math.huge then error("The row has an infinite value.", 0) end
  return found + 0.0
end

local function needed(value)
  local found = number(value)
  if found ~= found then error("The row lacks a value without which the model has no answer.", 0) end
  return found
end

-- For each prototype, what each of its terms adds to its score.
function M.contributions(x)
  local v = {}
  @inputs@
  @shared@
  return {
    @contributions@
  }
end

-- The score of each prototype.
function M.scores(x)
  local z = {}
  for j, parts in ipairs(M.contributions(x)) do
    z[j] = INTERCEPTS[j]
    for _, part in ipairs(parts) do z[j] = z[j] + part end
    finite(z[j])
  end
  return z
end

-- The score of a class, the greatest of its prototypes, and the first of these that has it.
local function highest(z, label)
  local best
  for _, j in ipairs(BY_CLASS) do
    if OWNERS[j] == label and (best == nil or z[j] > z[best]) then best = j end
  end
  return z[best], best
end

@winner@

-- The class of a row.
function M.predict(x)
  local _, label = winner(M.scores(x))
  return M.CLASSES[label]
end

@decision@

-- The probability of each class, in the order of CLASSES.
function M.probabilities(x)
  local z = M.decision(x)
  if type(z) == "number" then z = {0.0, z} end
  local best, total, found = math.max(z[1], z[2]), 0.0, {}
  for _, one in ipairs(z) do best = math.max(best, one) end
  for k, one in ipairs(z) do
    found[k] = math.exp(one - best)
    total = total + found[k]
  end
  for k = 1, #found do found[k] = found[k] / total end
  return found
end

-- The prototype that decides, the one with the greatest score of its class, and what each of its terms adds to it.
function M.reason(x)
  local z = M.scores(x)
  local prototype, label = winner(z)
  local parts, terms = M.contributions(x)[prototype], {}
  for i, words in ipairs(TERMS[prototype]) do
    terms[i] = {feature = words[1], term = words[2], contribution = parts[i]}
  end
  return {
    class = M.CLASSES[label],
    prototype = prototype,
    score = z[prototype],
    intercept = INTERCEPTS[prototype],
    terms = terms,
  }
end
"""
    closing = "\nreturn M\n"
    cut_decides = """\
local CUT = @cut@ -- the score that decides
local function winner(z)
  local owner = OWNERS[1]
  local score, best = highest(z, owner)
  local lost = score < CUT or (owner == 2 and score == CUT)
  return best, lost and 3 - owner or owner
end
"""
    highest_decides = """\
local function winner(z)
  local best = BY_CLASS[1]
  for _, j in ipairs(BY_CLASS) do
    if z[j] > z[best] then best = j end
  end
  return best, OWNERS[best]
end
"""
    offsets_decide = """\
local OFFSETS = @offsets@ -- added to the scores of each class before the greatest decides
local function winner(z)
  local best = BY_CLASS[1]
  for _, j in ipairs(BY_CLASS) do
    if z[j] + OFFSETS[OWNERS[j]] > z[best] + OFFSETS[OWNERS[best]] then best = j end
  end
  return best, OWNERS[best]
end
"""
    costs_decide = """\
local COSTS = { -- of predicting a class (column) where another is true (row): the least expected cost decides
  @costs@
}
local function winner(z)
  local top, label, least = z[1], nil, nil
  for _, one in ipairs(z) do top = math.max(top, one) end
  for k = 1, #M.CLASSES do
    local cost = 0.0
    for i = 1, #M.CLASSES do cost = cost + math.exp(SCALE * (highest(z, i) - top)) * COSTS[i][k] end
    if least == nil or cost < least then label, least = k, cost end
  end
  local _, best = highest(z, label)
  return best, label
end
"""
    two_classes = """\
-- Log-odds: positive for CLASSES[2].
function M.decision(x)
  local best = highest(M.scores(x), OWNERS[1])
  return finite(SCALE * (OWNERS[1] == 2 and best or -best))
end
"""
    two_owners = """\
-- Log-odds: positive for CLASSES[2].
function M.decision(x)
  local z = M.scores(x)
  local first, second = highest(z, 1), highest(z, 2)
  return finite(SCALE * second) - finite(SCALE * first)
end
"""
    more_classes = """\
-- Log-odds: the score of each class.
function M.decision(x)
  local z, found = M.scores(x), {}
  for label = 1, #M.CLASSES do found[label] = finite(SCALE * highest(z, label)) end
  return found
end
"""
    test_template = """
local PLACES = @places@
local ROWS = { -- test vectors: the values at these places, and the position of the class from 0
  @rows@
}

-- How many of ROWS are predicted differently from the model that this text was made from.
function M.test()
  local wrong = 0
  for _, row in ipairs(ROWS) do
    local x = {}
    for place = 1, @width@ do x[place] = 0.0 end
    for i, place in ipairs(PLACES) do x[place + 1] = row[1][i] end
    if M.predict(x) ~= M.CLASSES[row[2] + 1] then wrong = wrong + 1 end
  end
  return wrong
end
"""


def _literal(value: Any) -> str:
    """Text, a number, a boolean or None as Lua reads it back, in ASCII."""
    if isinstance(value, str):
        signs = str(value).encode("utf-8", "surrogatepass")
        return (
            '"' + "".join(chr(one) if 32 <= one < 127 and one not in b'"\\' else f"\\{one:03}" for one in signs) + '"'
        )
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(float(value))
    if -WHOLE <= value < WHOLE:
        return str(int(value)) if value != -WHOLE else f"({1 - WHOLE} - 1)"
    return f'"{int(value)}"'
