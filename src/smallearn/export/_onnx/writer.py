"""A model as an ONNX graph, and the estimators as steps of a pipeline that skl2onnx converts."""

import importlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from smallearn._errors import check_choice
from smallearn._text import show
from smallearn.export._fixed.float32 import in_floats
from smallearn.export._fixed.numbers import TargetModel
from smallearn.export._flat import FlatModel
from smallearn.export._names import remark
from smallearn.export._onnx.graph import (
    INT64,
    NUMBERS,
    OPSET,
    STRING,
    TEXT_OPSET,
    add_model,
    check_texts,
    indices,
    label_values,
)
from smallearn.model import SMaLLModel

if TYPE_CHECKING:
    import onnx

INPUTS = ("all", "used")
TYPES = "skl2onnx.common.data_types"


def to_onnx(model: SMaLLModel, *, inputs: str = "all", number: str = "float32") -> "onnx.ModelProto":
    """The model as a graph of standard operators in float32, or float64.

    The input is ``X``, rows × features: all of the training data's (``inputs`` "all") or those in use, in order
    ("used"). A model that compares text has instead one input of rows × 1 for each feature in use, a number or a text,
    called ``x_`` and the feature's name in lower-case ASCII. Missing is NaN, or empty text. Outputs:

    =============  ==================================================================================================
    label          the class: int64 for whole numbers and booleans, otherwise text
    probabilities  rows × classes
    scores         rows × prototypes, as `SMaLLModel.scores`
    =============  ==================================================================================================

    A row that lacks a value for which the model has no mean has no answer: its scores are NaN, its label means nothing.
    Weights are rounded to float32, cut points down, so that ``x ≤ t`` is exact for every float32 x; how far the scores
    can be off, `float32_error_bound` says. The metadata have the version, the model's hash and the features' names.
    """
    onnx = _need("onnx")
    check_choice("inputs", inputs, INPUTS)
    check_choice("number", number, tuple(NUMBERS))
    target = in_floats(model, number)
    flat = target.flat
    check_texts(flat)
    graph = _OnnxGraph(onnx)
    given = _text_inputs(graph, target) if _has_text(flat) else _matrix_input(graph, target, inputs)
    answers = add_model(graph, target, *given)
    labels = label_values(flat.classes)
    graph.node("Gather", graph.constant(labels), answers.position, axis=0, output="label")
    graph.node("Identity", answers.probabilities, output="probabilities")
    graph.node("Identity", answers.scores, output="scores")
    kind = NUMBERS[number]
    outputs = [
        ("label", INT64 if labels.dtype == np.int64 else STRING, ["rows"]),
        ("probabilities", kind, ["rows", len(flat.classes)]),
        ("scores", kind, ["rows", len(flat.owners)]),
    ]
    return graph.finished(flat, [onnx.helper.make_tensor_value_info(*output) for output in outputs])


def _need(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        package = module.split(".")[0]
        raise ImportError(f"ONNX needs {package} ({problem}): pip install 'smallearn[onnx]'") from None


def _has_text(flat: FlatModel) -> bool:
    return any(given.is_text for given in flat.inputs)


class _OnnxGraph:
    """Nodes, constants and inputs, with names of their own."""

    def __init__(self, onnx: Any):
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []

    def node(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        output = output or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def constant(self, values: np.ndarray) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(values, name))
        return name

    def input(self, name: str, kind: int, width: int, words: str) -> str:
        value = self.onnx.helper.make_tensor_value_info(name, kind, ["rows", width], words)
        self.inputs.append(value)
        return name

    def finished(self, flat: FlatModel, outputs: list[Any]) -> Any:
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, "smallearn", self.inputs, outputs, self.constants, _words(flat))
        opset = [helper.make_opsetid("", TEXT_OPSET if _has_text(flat) else OPSET)]
        model = helper.make_model(
            graph,
            opset_imports=opset,
            ir_version=helper.find_min_ir_version_for(opset),
            producer_name="smallearn",
            producer_version=flat.version,
            doc_string=flat.stamp,
        )
        features = json.dumps([given.label for given in flat.inputs])
        facts = {"smallearn_version": flat.version, "smallearn_model": flat.hash, "smallearn_features": features}
        helper.set_model_props(model, facts)
        return model


def _words(flat: FlatModel) -> str:
    classes = [remark(label) for label in flat.classes]
    if not flat.is_binary:
        owners = ", ".join(classes[owner] for owner in flat.owners)
        return f"The class of the greatest score, at a tie the first; the scores are those of {owners}."
    owner = flat.owners[0]
    bar = "above 0" if owner else "0 or more"
    return f"{classes[owner]} if any score is {bar}, otherwise {classes[1 - owner]}."


Given = tuple[str, dict[int, str], str]  # what `add_model` is given


def _matrix_input(graph: _OnnxGraph, target: TargetModel[float], inputs: str) -> Given:
    used = [given.feature for given in target.flat.inputs]
    labels = ", ".join(remark(given.label) for given in target.flat.inputs)
    width = target.flat.n_features if inputs == "all" else max(len(used), 1)
    x = graph.input("X", NUMBERS[target.number], width, f"in use: {labels}")
    if not used or inputs == "used":
        return x, {}, x
    return graph.node("Gather", x, indices(graph, used), axis=1), {}, x


def _text_inputs(graph: _OnnxGraph, target: TargetModel[float]) -> Given:
    names, texts = [], {}
    for position, given in enumerate(target.flat.inputs):
        kind = STRING if given.is_text else NUMBERS[target.number]
        name = graph.input(f"x_{given.name}", kind, 1, remark(given.label))
        if given.is_text:
            texts[position] = name
        else:
            names.append(name)
    numbers = graph.node("Concat", *names, axis=1) if names else ""
    return numbers, texts, next(iter(texts.values()))


# --- pipelines -------------------------------------------------------------------------------------------------------


def register_onnx() -> None:
    """Let skl2onnx convert `SMaLLClassifier` and `SMaLLClassifierCV`, alone or as the last step of a Pipeline.

    Options of a classifier in skl2onnx: ``zipmap`` (True, False, "columns"), ``nocl`` (positions instead of labels),
    ``output_class_labels`` and ``raw_scores`` (the decision function instead of probabilities). Double inputs are
    answered in double precision. Columns of text are inputs of rows × 1 of their own, in the order of the features.
    """
    skl2onnx = _need("skl2onnx")
    from smallearn import SMaLLClassifier, SMaLLClassifierCV

    choices = {
        "zipmap": [True, False, "columns"],
        "nocl": [True, False],
        "output_class_labels": [False, True],
        "raw_scores": [True, False],
    }
    add = skl2onnx.update_registered_converter
    for estimator in (SMaLLClassifier, SMaLLClassifierCV):
        add(estimator, f"Smallearn{estimator.__name__}", _declare, _convert, options=choices)


def _declare(operator: Any) -> None:
    """The types of label and probabilities."""
    types = _need(TYPES)
    rows = operator.inputs[0].get_first_dimension()
    model = operator.raw_operator.model_
    whole = _labels(operator, operator.scope_inst).dtype == np.int64
    operator.outputs[0].set_type((types.Int64TensorType if whole else types.StringTensorType)([rows]))
    number = types.DoubleTensorType if _is_double(operator) else types.FloatTensorType
    operator.outputs[1].set_type(number([rows, len(model.classes)]))


def _labels(operator: Any, options: Any) -> np.ndarray:
    classes = operator.raw_operator.model_.classes
    places = options.get_options(operator.raw_operator, {"nocl": False})["nocl"]
    return label_values(tuple(range(len(classes))) if places else classes)


def _is_double(operator: Any) -> bool:
    return any(isinstance(given.type, _need(TYPES).DoubleTensorType) for given in operator.inputs)


class _PipelineGraph:
    """Nodes and constants in a graph of skl2onnx's."""

    def __init__(self, scope: Any, container: Any):
        self.scope, self.container = scope, container

    def node(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        output = output or self.scope.get_unique_variable_name(f"smallearn_{operator.lower()}")
        name = self.scope.get_unique_operator_name(f"smallearn_{operator}")
        self.container.add_node(operator, list(inputs), [output], name=name, **attributes)
        return output

    def constant(self, values: np.ndarray) -> str:
        name = self.scope.get_unique_variable_name("smallearn_constant")
        kind = {"f": {4: 1, 8: 11}, "i": {8: INT64}, "O": {8: STRING}}[values.dtype.kind][values.dtype.itemsize]
        content = [text.encode() for text in values.ravel()] if kind == STRING else values.ravel().tolist()
        self.container.add_initializer(name, kind, list(values.shape), content)
        return name


def _convert(scope: Any, operator: Any, container: Any) -> None:
    target = in_floats(operator.raw_operator.model_, "float64" if _is_double(operator) else "float32")
    check_texts(target.flat)
    graph = _PipelineGraph(scope, container)
    answers = add_model(graph, target, *_columns(graph, target, operator))
    labels = graph.constant(_labels(operator, scope))
    graph.node("Gather", labels, answers.position, axis=0, output=operator.outputs[0].full_name)
    shown = answers.probabilities
    if container.get_options(operator.raw_operator, {"raw_scores": False})["raw_scores"]:
        shown = answers.decision
        if target.flat.is_binary:
            shown = graph.node("Concat", graph.node("Neg", shown), shown, axis=1)
    graph.node("Identity", shown, output=operator.outputs[1].full_name)


def _columns(graph: _PipelineGraph, target: TargetModel[float], operator: Any) -> Given:
    """The columns in use among the inputs of a step, which may be one matrix or several."""
    if len(operator.inputs) == 1 and not _has_text(target.flat):
        where = {given.feature: (operator.inputs[0], given.feature) for given in target.flat.inputs}
    else:
        every = [(given, column) for given in operator.inputs for column in range(given.type.shape[1] or 1)]
        if len(every) != target.flat.n_features:
            raise ValueError(
                f"There are {len(every)} columns; the model was trained on {target.flat.n_features} features."
            )
        where = dict(enumerate(every))
    names, texts = [], {}
    for position, given in enumerate(target.flat.inputs):
        source, column = where[given.feature]
        is_text = isinstance(source.type, _need(TYPES).StringTensorType)
        if is_text != given.is_text:
            found, needed = ("text", "numbers") if is_text else ("numbers", "text")
            raise ValueError(f"{show(given.label)} has {found}; the model needs {needed} there.")
        name = graph.node("Gather", source.full_name, indices(graph, [column]), axis=1)
        if given.is_text:
            texts[position] = name
        else:
            names.append(graph.node("Cast", name, to=NUMBERS[target.number]))
    numbers = graph.node("Concat", *names, axis=1) if names else ""
    return numbers, texts, operator.inputs[0].full_name
