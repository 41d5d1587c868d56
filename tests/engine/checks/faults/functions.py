"""Faults of model-local functions and their calls."""

from __future__ import annotations

from onnx import ModelProto, parser

from tests.engine.checks.faults.making import X, Y, fault


def with_function(function: str, call: str = "y = local.F(x)", more: str = "", head: str = "") -> ModelProto:
    """A model that imports `local` and calls one of its functions."""
    head = head or 'ir_version: 9, opset_import: ["" : 17, "local" : 1]'
    return parser.parse_model(f"<{head}> g ({X}) => ({Y}) {{ {call} }} {function} {more}")


LOCAL = '<domain: "local", opset_import: ["" : 17]>'


@fault("function-form", says="the input 'a' stands there more than once")
def function_with_an_input_twice() -> ModelProto:
    return with_function(f"{LOCAL} F (a, a) => (b) {{ b = Relu(a) }}")


@fault("function-form", says="the output 'b' stands there more than once")
def function_with_an_output_twice() -> ModelProto:
    return with_function(f"{LOCAL} F (a) => (b, b) {{ b = Relu(a) }}")


@fault("function-form", says="the attribute 'k' stands there more than once")
def function_with_an_attribute_twice() -> ModelProto:
    return with_function(f"{LOCAL} F <k, k> (a) => (b) {{ b = LeakyRelu<alpha: float = @k>(a) }}")


@fault("function-form", says="is defined more than once")
def function_defined_twice() -> ModelProto:
    body = f"{LOCAL} F (a) => (b) {{ b = Relu(a) }}"
    return with_function(body, more=body)


@fault("attribute-reference", refused=False, says="'slope', which the function does not declare")
def function_that_refers_to_nothing() -> ModelProto:
    proto = with_function(f"{LOCAL} F <k> (a) => (b) {{ b = LeakyRelu<alpha: float = @k>(a) }}")
    proto.functions[0].node[0].attribute[0].ref_attr_name = "slope"
    return proto


@fault("attribute-form", refused=False, says="refers to 'k' of the call, and holds f as well")
def reference_with_a_value() -> ModelProto:
    proto = with_function(f"{LOCAL} F <k> (a) => (b) {{ b = LeakyRelu<alpha: float = @k>(a) }}")
    proto.functions[0].node[0].attribute[0].f = 1
    return proto


@fault("missing-tensor")
def function_that_reads_an_outer_value() -> ModelProto:
    return with_function(f"{LOCAL} F (a) => (b) {{ b = Add(a, x) }}")


@fault("recursive-function", refused=True)
def functions_that_call_each_other() -> ModelProto:
    local = '<domain: "local", opset_import: ["" : 17, "local" : 1]>'
    f, g = (f"{local} {name} (a) => (b) {{ b = local.{other}(a) }}" for name, other in ("FG", "GF"))
    return with_function(f, more=g)


@fault("undeclared-opset")
def function_without_its_import() -> ModelProto:
    return with_function('<domain: "local", opset_import: ["acme" : 1]> F (a) => (b) { b = Relu(a) }')


@fault("function-opset", says="imports opset 12 of ai.onnx, the model 17, and Softmax")
def function_of_another_opset() -> ModelProto:
    return with_function('<domain: "local", opset_import: ["" : 12]> F (a) => (b) { b = Softmax(a) }')


@fault("unused-node", refused=False, says="nothing that Abs")
def function_with_a_dead_node() -> ModelProto:
    return with_function(f"{LOCAL} F (a) => (b) {{ b = Relu(a) c = Abs(a) }}")


@fault("wrong-arity", refused=False, says="has 2 inputs, and the function has 1")
def call_with_too_many_inputs() -> ModelProto:
    return with_function(f"{LOCAL} F (a) => (b) {{ b = Relu(a) }}", "y = local.F(x, x)")


@fault("unknown-attribute", refused=False, says="'k', which the function does not declare")
def call_with_an_attribute_of_its_own() -> ModelProto:
    return with_function(f"{LOCAL} F (a) => (b) {{ b = Relu(a) }}", "y = local.F<k = 1>(x)")


@fault("newer-than-ir", refused=False, says="model-local functions, which came with IR 8")
def functions_before_there_were_any() -> ModelProto:
    proto = with_function(f"{LOCAL} F (a) => (b) {{ b = Relu(a) }}")
    proto.ir_version = 7
    return proto


@fault("missing-attribute", "unused-function", says="in the function 'Unused': Cast")
def fault_in_a_function_that_nobody_calls() -> ModelProto:
    return with_function(
        f"{LOCAL} F (a) => (b) {{ b = Relu(a) }}", more=f"{LOCAL} Unused (a) => (b) {{ b = Cast(a) }}"
    )
