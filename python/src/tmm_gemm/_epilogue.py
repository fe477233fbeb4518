"""What is added to a product and done to it before it is rounded: the words of shapes files, and their operands."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

from . import _arguments, _arrays, _library
from ._array import Array

ACTIVATIONS = {"relu": 1, "gelu": 2, "gelu_tanh": 3, "silu": 4, "sigmoid": 5, "tanh": 6}
# Each takes two columns of the product, half of its columns apart, for one of the result, or two rows.
GATES = {"swiglu": 7, "swiglu_rows": 8}
_BIAS_AXES = {"bias": 0, "bias_rows": 1}
_CUSTOM = 3
BIAS_TYPES = ("f32", "f16", "bf16", "f64")


@dataclass(frozen=True)
class Epilogue:
    """activation(x + bias) + residual, each where it is named, or an expression over them."""

    bias: Optional[str] = None
    activation: Optional[str] = None
    residual: bool = False
    expression: Optional[str] = None

    @property
    def is_gate(self) -> bool:
        return self.activation in GATES

    @property
    def products(self) -> tuple[int, int]:
        """How many rows and columns of the product make one of the result."""
        return (2 if self.activation == "swiglu_rows" else 1, 2 if self.activation == "swiglu" else 1)

    @property
    def keeps_symmetry(self) -> bool:
        """Is the result symmetric wherever the product is?"""
        names_place = any(word in (self.expression or "") for word in ("row", "column"))
        return not (self.bias or self.residual or self.is_gate or names_place)

    @property
    def gated_axis(self) -> str:
        return "rows" if self.activation == "swiglu_rows" else "columns"

    def halved(self, of_product: int) -> int:
        """How many rows, or columns, a gate makes of so many of the product."""
        if of_product % 2:
            raise ValueError(f"{self.activation} takes the {self.gated_axis} of the product by halves, but there are {of_product}")
        return of_product // 2

    def fields(self, type_bias: str) -> dict[str, Any]:
        """Of tmmGemmProblem_t, without those of the residual's layout."""
        if self is PLAIN:
            return {}
        fields: dict[str, Any] = {"has_residual": int(self.residual), "activation": {**ACTIVATIONS, **GATES}.get(self.activation or "", 0)}
        if self.bias:
            fields.update(has_bias=1, bias_axis=_BIAS_AXES[self.bias], type_bias=_library.TYPES[type_bias])
        if self.expression is not None:
            fields.update(epilogue=_CUSTOM, expression=self.expression.encode())
        return fields


# What most products have; calls share it, since making one takes a tenth of a small product's time.
PLAIN = Epilogue()
_NO_PARAMETERS = _library.Parameters()


def _words(text: str) -> Epilogue:
    if not isinstance(text, str):
        raise TypeError(f"epilogue is a {type(text).__name__}, not a str such as 'bias+gelu'")
    bias = activation = None
    residual = False
    for word in text.split("+") if text != "none" else ():
        if word in _BIAS_AXES and bias is None:
            bias = word
        elif (word in ACTIVATIONS or word in GATES) and activation is None:
            activation = word
        elif word == "residual" and not residual:
            residual = True
        else:
            known = ", ".join([*_BIAS_AXES, *ACTIVATIONS, *GATES, "residual"])
            second = word in _BIAS_AXES or word in ACTIVATIONS or word in GATES or word == "residual"
            raise ValueError(
                f"epilogue is {text!r}, in which {word!r} {'is one word of its kind too many' if second else 'is no word of an epilogue'}: "
                f"join some of {known} by '+', as in 'bias+gelu+residual'"
            )
    return Epilogue(bias, activation, residual)


def epilogue_of(text: Optional[str], expression: Optional[str], has_bias: bool, has_residual: bool) -> Epilogue:
    """What a call asks for. Operands imply their words where there is no text."""
    if text is None and expression is None and not has_bias and not has_residual:
        return PLAIN
    found = Epilogue("bias" if has_bias else None, None, has_residual) if text is None else _words(text)
    if expression is None:
        return found
    if not isinstance(expression, str):
        raise TypeError(f"expression is a {type(expression).__name__}, not a str")
    if "\0" in expression:
        raise ValueError("expression has a zero character")
    if found.activation:
        raise ValueError(f"the expression says everything: leave {found.activation!r} out of the epilogue, and call the function in it")
    return Epilogue(found.bias, None, found.residual, expression)


def check_operands(epilogue: Epilogue, bias: Any, residual: Any) -> None:
    """Raises ValueError where the epilogue names an operand that is not given, or one is given that it does not name."""
    if epilogue is PLAIN and bias is None and residual is None:
        return
    for name, named, given in (("bias", bool(epilogue.bias), bias), ("residual", epilogue.residual, residual)):
        if named and given is None:
            raise ValueError(f"the epilogue has a {name}, but {name} is None")
        if given is not None and not named:
            raise ValueError(f"{name} is given, but the epilogue has none: add {name!r} to its words")


def bias_vector(bias: Any, epilogue: Epilogue, shape: tuple[int, ...], device: int, stream: int) -> Array:
    """A bias as neighbouring elements, one for each column of the product, or for each row; shape: the result's matrices."""
    array = _arrays.view(bias, "bias", stream)
    axis = epilogue.bias
    rows, columns = epilogue.products
    count, lines = (shape[-1] * columns, "columns") if axis == "bias" else (shape[-2] * rows, "rows")
    if array.shape != (count,):
        raise ValueError(f"bias has the shape {array.shape}, but {axis!r} adds an element to each of the product's {lines}: ({count},)")
    if array.dtype not in BIAS_TYPES:
        raise TypeError(f"bias has elements of type {array.dtype}; a bias has f32, f16, bf16 or, of a product of f64, f64")
    if array.device != device:
        raise ValueError("bias does not lie on the product's device")
    return array if count <= 1 or array.strides == (1,) else _arrays.view(_arrays.packed_copy(bias, "bias"), "bias", stream)


def check_residual(residual: Array, out: Array, may_broadcast: bool) -> None:
    """A residual has the product's shape; where that is a batch of matrices, dimensions of the batch may be missing, or 1."""
    fits = residual.shape == out.shape
    if may_broadcast and residual.ndim >= 2 and residual.ndim <= out.ndim and not fits:
        own, batch = residual.shape[:-2], out.shape[-residual.ndim : -2]
        fits = residual.shape[-2:] == out.shape[-2:] and all(x in (1, y) for x, y in zip(own, batch))
    if not fits:
        raise ValueError(f"residual has the shape {residual.shape}, but the product has {out.shape}")
    if residual.dtype != out.dtype:
        raise TypeError(f"residual has elements of type {residual.dtype}, but the product's are {out.dtype}: convert it")
    if residual.device != out.device:
        raise ValueError("residual does not lie on the product's device")


def parameter_values(parameters: Optional[Sequence[float]], epilogue: Epilogue) -> Any:
    """p0 to p3 of an expression; those that are not given are 0."""
    if parameters is None:
        return _NO_PARAMETERS
    values = _arguments.numbers(parameters, "parameters")
    if values and epilogue.expression is None:
        raise ValueError("parameters are given, but there is no expression that they are for")
    if len(values) > 4:
        raise ValueError(f"there are {len(values)} parameters; an expression has p0 to p3")
    return _library.Parameters(*values)
