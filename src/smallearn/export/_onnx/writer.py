"""A model as an ONNX graph, and converters with which skl2onnx converts pipelines that end in the estimators."""

import importlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from smallearn._errors import check_choice
from smallearn._text import show
from smallearn.export._fixed.float32 import in_floats
from smallearn.export._fixed.numbers import TargetModel
from smallearn.export._flat import FlatModel, decision_rule, unchecked
from smallearn.export._names import comment_text
from smallearn.export._onnx.graph import (
    INT64,
    NUMBERS,
    OPSET,
    STRING,
    TEXT_OPSET,
    Inputs,
    add_model,
    check_texts,
    indices,
    label_values,
)
from smallearn.model._arguments import as_model

if TYPE_CHECKING:
    import onnx

INPUTS = ("all", "used")
TYPES = "skl2onnx.common.data_types"


def to_onnx(model: Any, *, inputs: str = "all", number: str = "float32") -> "onnx.ModelProto":
    """Write a model as an ONNX graph of standard operators.

    The input is ``X``, rows × features. A model that compares text has instead one input of rows × 1 for each feature
    in use, a number or a text, called ``x_`` and the feature's name in lower-case ASCII. NaN and empty text are missing
    values. The outputs are:

    =============  ====================================================================================================
    label          the class: int64 for whole numbers and booleans, otherwise text
    probabilities  rows × classes
    scores         rows × prototypes, as `SMaLLModel.scores`
    =============  ====================================================================================================

    Where the model cannot predict because a value is missing, the scores are NaN and the label means nothing. Weights
    are rounded to float32 and cut points down, so that ``x ≤ t`` is exact for every float32 x; `float32_error_bound`
    bounds the error of the scores. The metadata have the version, the model's hash and the features' names.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    inputs : {"all", "used"}, default="all"
        Whether ``X`` has all features of the training data or only those that the model uses, in order.
    number : {"float32", "float64"}, default="float32"
        The type of the numbers.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    ImportError
        If the package onnx is not installed.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import to_onnx
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> [output.name for output in to_onnx(clf).graph.output]
    ['label', 'probabilities', 'scores']
    """
    onnx = _need("onnx")
    check_choice("inputs", inputs, INPUTS)
    check_choice("number", number, tuple(NUMBERS))
    target = in_floats(as_model(model), number)
    flat = target.flat
    check_texts(flat)
    graph = _OnnxGraph(onnx)
    tensors = _text_inputs(graph, target) if _has_text(flat) else _matrix_input(graph, target, inputs)
    answers = add_model(graph, target, tensors)
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
    return graph.model(flat, [onnx.helper.make_tensor_value_info(*output) for output in outputs])


def _need(module: str) -> Any:
    """A module of the extra ``onnx``."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise ImportError(f"ONNX needs {package} ({error}): pip install 'smallearn[onnx]'") from None


def _has_text(flat: FlatModel) -> bool:
    return any(input_.is_text for input_ in flat.inputs)


class _OnnxGraph:
    """A new ONNX graph."""

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

    def input(self, name: str, kind: int, width: int, description: str) -> str:
        value = self.onnx.helper.make_tensor_value_info(name, kind, ["rows", width], description)
        self.inputs.append(value)
        return name

    def model(self, flat: FlatModel, outputs: list[Any]) -> Any:
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, "smallearn", self.inputs, outputs, self.constants, _description(flat))
        opset = [helper.make_opsetid("", TEXT_OPSET if _has_text(flat) else OPSET)]
        model = helper.make_model(
            graph,
            opset_imports=opset,
            ir_version=helper.find_min_ir_version_for(opset),
            producer_name="smallearn",
            producer_version=flat.version,
            doc_string=flat.stamp,
        )
        features = json.dumps([input_.label for input_ in flat.inputs])
        metadata = {"smallearn_version": flat.version, "smallearn_model": flat.hash, "smallearn_features": features}
        helper.set_model_props(model, metadata)
        return model


def _description(flat: FlatModel) -> str:
    """The rule, for the graph's doc string."""
    classes = [comment_text(label) for label in flat.classes]
    rule = decision_rule(flat, classes)
    limits = "".join(f" {sentence}" for sentence in unchecked(flat))
    if flat.has_one_owner:
        return f"{rule}.{limits}"
    owners = ", ".join(classes[owner] for owner in flat.owners)
    return f"{rule[0].upper()}{rule[1:]}; the scores are those of {owners}.{limits}"


def _matrix_input(graph: _OnnxGraph, target: TargetModel[float], inputs: str) -> Inputs:
    """One input for all features, and the columns in use."""
    used = [input_.feature for input_ in target.flat.inputs]
    labels = ", ".join(comment_text(input_.label) for input_ in target.flat.inputs)
    width = target.flat.n_features if inputs == "all" else max(len(used), 1)
    x = graph.input("X", NUMBERS[target.number], width, f"in use: {labels}")
    gathered = x if not used or inputs == "used" else graph.node("Gather", x, indices(graph, used), axis=1)
    return Inputs(numbers=gathered, texts={}, any_input=x)


def _text_inputs(graph: _OnnxGraph, target: TargetModel[float]) -> Inputs:
    """One input for each feature in use."""
    names, texts = [], {}
    for position, input_ in enumerate(target.flat.inputs):
        kind = STRING if input_.is_text else NUMBERS[target.number]
        name = graph.input(f"x_{input_.name}", kind, 1, comment_text(input_.label))
        if input_.is_text:
            texts[position] = name
        else:
            names.append(name)
    numbers = graph.node("Concat", *names, axis=1) if names else ""
    return Inputs(numbers=numbers, texts=texts, any_input=next(iter(texts.values())))


# --- pipelines -------------------------------------------------------------------------------------------------------


def register_onnx() -> None:
    """Let skl2onnx convert `SMaLLClassifier` and `SMaLLClassifierCV`, alone or as a Pipeline's last step.

    The options of a classifier in skl2onnx are supported: ``zipmap`` (True, False, "columns"), ``nocl`` (positions
    instead of labels), ``output_class_labels`` and ``raw_scores`` (the decision function instead of probabilities).
    Double inputs are computed in double precision. Each column of text is an input of rows × 1, in the order of the
    features.

    Raises
    ------
    ImportError
        If the package skl2onnx is not installed.

    Examples
    --------
    >>> import skl2onnx
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import register_onnx
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), SMaLLClassifier(1, 2, random_state=0)).fit(X, y)
    >>> register_onnx()
    >>> graph = skl2onnx.to_onnx(pipeline, X[:1]).graph
    >>> [output.name for output in graph.output]
    ['output_label', 'output_probability']
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
    """Declare the types of label and probabilities."""
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
    return any(isinstance(input_.type, _need(TYPES).DoubleTensorType) for input_ in operator.inputs)


class _PipelineGraph:
    """A graph of skl2onnx."""

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
    answers = add_model(graph, target, _columns(graph, target, operator))
    labels = graph.constant(_labels(operator, scope))
    graph.node("Gather", labels, answers.position, axis=0, output=operator.outputs[0].full_name)
    output = answers.probabilities
    if container.get_options(operator.raw_operator, {"raw_scores": False})["raw_scores"]:
        output = answers.decision
        if len(target.flat.classes) == 2:
            if not target.flat.has_one_owner:
                first, second = (graph.node("Gather", output, indices(graph, [label]), axis=1) for label in (0, 1))
                output = graph.node("Sub", second, first)
            output = graph.node("Concat", graph.node("Neg", output), output, axis=1)
    graph.node("Identity", output, output=operator.outputs[1].full_name)


def _columns(graph: _PipelineGraph, target: TargetModel[float], operator: Any) -> Inputs:
    """The columns in use among the inputs of a step, which may be one matrix or several."""
    flat = target.flat
    if len(operator.inputs) == 1 and not _has_text(flat):
        where = {input_.feature: (operator.inputs[0], input_.feature) for input_ in flat.inputs}
    else:
        every = [(source, column) for source in operator.inputs for column in range(source.type.shape[1] or 1)]
        if len(every) != flat.n_features:
            raise ValueError(f"There are {len(every)} columns; the model was trained on {flat.n_features} features.")
        where = dict(enumerate(every))
    names, texts = [], {}
    for position, input_ in enumerate(flat.inputs):
        source, column = where[input_.feature]
        is_text = isinstance(source.type, _need(TYPES).StringTensorType)
        if is_text != input_.is_text:
            kind, needed = ("text", "numbers") if is_text else ("numbers", "text")
            raise ValueError(f"{show(input_.label)} has {kind}; the model needs {needed} there.")
        name = graph.node("Gather", source.full_name, indices(graph, [column]), axis=1)
        if input_.is_text:
            texts[position] = name
        else:
            names.append(graph.node("Cast", name, to=NUMBERS[target.number]))
    numbers = graph.node("Concat", *names, axis=1) if names else ""
    return Inputs(numbers=numbers, texts=texts, any_input=operator.inputs[0].full_name)
