"""Recurrent networks: RNN, GRU and LSTM, all directions, layouts and activation functions."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypedDict, Unpack

from engine.errors import UnsupportedError
from engine.kernels.matmul import product
from engine.kernels.precision import in_float32
from engine.kernels.registry import KernelContext, kernel

Activation = Callable[[Any], Any]
Product = Callable[[Any], Any]
"""A matrix [rows, width] times the weights of a direction."""

_ACTIVATIONS: dict[str, tuple[Callable[[Any, Any, float, float], Any], float, float]] = {
    "relu": (lambda xp, x, a, b: xp.maximum(x, 0), 0, 0),
    "tanh": (lambda xp, x, a, b: xp.tanh(x), 0, 0),
    "sigmoid": (lambda xp, x, a, b: 1 / (1 + xp.exp(-x)), 0, 0),
    "affine": (lambda xp, x, a, b: a * x + b, 1, 0),
    "leakyrelu": (lambda xp, x, a, b: xp.where(x >= 0, x, a * x), 0.01, 0),
    "thresholdedrelu": (lambda xp, x, a, b: xp.where(x > a, x, 0 * x), 1, 0),
    "scaledtanh": (lambda xp, x, a, b: a * xp.tanh(b * x), 1, 1),
    "hardsigmoid": (lambda xp, x, a, b: xp.clip(a * x + b, 0, 1), 0.2, 0.5),
    "elu": (lambda xp, x, a, b: xp.where(x >= 0, x, a * xp.expm1(x)), 1, 0),
    "softsign": (lambda xp, x, a, b: x / (1 + xp.abs(x)), 0, 0),
    "softplus": (lambda xp, x, a, b: xp.logaddexp(x, 0), 0, 0),
}
"""By lower-case name: the function of (xp, x, alpha, beta), and the defaults of alpha and beta."""

_TAKES_ALPHA = {"affine", "leakyrelu", "thresholdedrelu", "scaledtanh", "hardsigmoid", "elu"}
_TAKES_BETA = {"affine", "scaledtanh", "hardsigmoid"}


def _activations(
    xp: Any, names: list[str], alphas: list[float] | None, betas: list[float] | None
) -> list[Activation]:
    """The named functions; alphas and betas are handed out in order to those that take one."""
    next_alpha, next_beta = iter(alphas or ()), iter(betas or ())
    result = []
    for name in names:
        key = name.lower()
        if key not in _ACTIVATIONS:
            raise UnsupportedError(f"{name!r} is no activation function of a recurrent operator")
        function, alpha, beta = _ACTIVATIONS[key]
        alpha = next(next_alpha, alpha) if key in _TAKES_ALPHA else alpha
        beta = next(next_beta, beta) if key in _TAKES_BETA else beta
        result.append(_bound(xp, function, float(alpha), float(beta)))
    return result


def _bound(xp: Any, function: Callable[[Any, Any, float, float], Any], alpha: float, beta: float) -> Activation:
    return lambda x: function(xp, x, alpha, beta)


@dataclass(slots=True)
class Run:
    """The inputs of a recurrent node with time in front: x [T, B, I], weights [D, gates*H, I or H], bias or None."""

    xp: Any
    x: Any
    w: Any
    r: Any
    times_w: list[Product]  # for each direction, rows of the input times w
    times_r: list[Product]  # for each direction, rows of the state times r
    bias: Any
    lengths: Any
    hidden: int
    directions: list[bool]  # for each direction, whether it runs backwards
    activations: list[list[Activation]]
    clip: float | None
    swapped: bool  # layout 1: batch before time

    @property
    def batch(self) -> int:
        return int(self.x.shape[1])

    def initial(self, state: Any, direction: int) -> Any:
        """The first state of a direction [B, H], zeros where none is given."""
        if state is None:
            return self.xp.zeros((self.batch, self.hidden), self.x.dtype)
        return state[:, direction] if self.swapped else state[direction]

    def biases(self, direction: int) -> tuple[Any, Any]:
        """The bias of the input product and that of the recurrent one."""
        if self.bias is None:
            none = self.xp.zeros(self.w.shape[1], self.x.dtype)
            return none, none
        half = self.w.shape[1]
        return self.bias[direction, :half], self.bias[direction, half:]

    def input_gates(self, direction: int, bias: Any) -> Any:
        """The inputs' share of the gates for all steps at once, [T, B, gates*H]."""
        steps, batch, width = self.x.shape
        product = self.times_w[direction](self.x.reshape(steps * batch, width))
        product += bias
        return product.reshape(steps, batch, -1)

    def steps(self, direction: int) -> Iterator[tuple[int, Any]]:
        """The time steps in the order they are taken, each with the rows that it advances [B, 1], None for all."""
        count = self.x.shape[0]
        for t in reversed(range(count)) if self.directions[direction] else range(count):
            yield t, None if self.lengths is None else (t < self.lengths)[:, None]

    def clipped(self, x: Any) -> Any:
        return x if self.clip is None else self.xp.clip(x, -self.clip, self.clip)

    def select(self, active: Any, new: Any, old: Any) -> Any:
        return new if active is None else self.xp.where(active, new, old)

    def outputs(self, sequence: Any, *finals: list[Any]) -> tuple[Any, ...]:
        """Y and the final states, each in the layout asked for; `sequence` is [T, D, B, H]."""
        states = [self.xp.stack(final) for final in finals]
        if not self.swapped:
            return sequence, *states
        return sequence.transpose(2, 0, 1, 3), *(state.transpose(1, 0, 2) for state in states)


def _products(xp: Any, weights: Any) -> list[Product]:
    """For each direction of weights [D, gates*H, width], their product with rows."""
    return [partial(_times, xp, matrix.T) for matrix in weights]


def _times(xp: Any, matrix: Any, rows: Any) -> Any:
    return product(xp, rows, matrix)


class Recurrent(TypedDict, total=False):
    """The attributes that the recurrent operators share, as the specification names them."""

    activation_alpha: list[float]
    activation_beta: list[float]
    activations: list[str]
    clip: float
    direction: str
    hidden_size: int
    layout: int


def prepare(
    ctx: KernelContext, x: Any, w: Any, r: Any, b: Any, lengths: Any, defaults: list[str], shared: Recurrent
) -> Run:
    """What LSTM, GRU and RNN share: their inputs checked, and the attributes as `Run` wants them.

    `defaults` names the activations of one direction.

    Raises
    ------
    UnsupportedError: an attribute that is not allowed, or weights and activations that do not fit the inputs.
    """
    direction, layout = shared.get("direction", "forward"), shared.get("layout", 0)
    if direction not in ("forward", "reverse", "bidirectional"):
        raise UnsupportedError(f"direction {direction!r} is none of forward, reverse, bidirectional")
    backwards = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    wanted = (len(backwards), w.shape[1], x.shape[-1]), (len(backwards), w.shape[1], r.shape[-1])
    if (w.shape, r.shape) != wanted:
        raise UnsupportedError(f"W {list(w.shape)} and R {list(r.shape)} should be {list(wanted[0])} and "
                               f"{list(wanted[1])} for inputs of {x.shape[-1]}")  # fmt: skip
    names = shared.get("activations") or defaults * len(backwards)
    functions = _activations(ctx.xp, names, shared.get("activation_alpha"), shared.get("activation_beta"))
    each = len(defaults)
    if len(functions) != each * len(backwards):
        raise UnsupportedError(f"{len(functions)} activations given where {each * len(backwards)} are due")
    return Run(
        xp=ctx.xp, x=x.swapaxes(0, 1) if layout else x, w=w, r=r, times_w=_products(ctx.xp, w),
        times_r=_products(ctx.xp, r), bias=b, lengths=lengths, hidden=r.shape[-1], directions=backwards,
        activations=[functions[i * each : (i + 1) * each] for i in range(len(backwards))],
        clip=shared.get("clip"), swapped=bool(layout),
    )  # fmt: skip


@kernel("LSTM", 1, 7, 14, 22)
@in_float32
def lstm(
    ctx: KernelContext,
    x: Any,
    w: Any,
    r: Any,
    b: Any = None,
    sequence_lens: Any = None,
    initial_h: Any = None,
    initial_c: Any = None,
    p: Any = None,
    *,
    input_forget: int = 0,
    **shared: Unpack[Recurrent],
) -> Any:
    """Long short-term memory, gates in the order input, output, forget, cell (LSTM 22). Gives Y, Y_h, Y_c.

    `clip` bounds what the gates put into their activations, and not the cell that goes into the last one, as in
    ONNX Runtime: the specification can be read either way.
    """
    run = prepare(ctx, x, w, r, b, sequence_lens, ["Sigmoid", "Tanh", "Tanh"], shared)
    return run_lstm(run, initial_h, initial_c, p, input_forget)


def run_lstm(run: Run, initial_h: Any, initial_c: Any, p: Any, input_forget: int) -> tuple[Any, ...]:
    """The steps of an LSTM in each direction: Y, Y_h, Y_c."""
    xp, n = run.xp, run.hidden
    sequence = xp.zeros((run.x.shape[0], len(run.directions), run.batch, n), run.x.dtype)
    finals_h, finals_c = [], []
    for d in range(len(run.directions)):
        f, g, h_of = run.activations[d]
        gates_in, times_r = run.input_gates(d, sum(run.biases(d))), run.times_r[d]
        h, c = run.initial(initial_h, d), run.initial(initial_c, d)
        peepholes = None if p is None else p[d].reshape(3, n)
        for t, active in run.steps(d):
            gates = gates_in[t] + times_r(h)
            if peepholes is not None:
                gates[:, :n] += peepholes[0] * c
                gates[:, 2 * n : 3 * n] += peepholes[2] * c
                i, forget = f(run.clipped(gates[:, :n])), f(run.clipped(gates[:, 2 * n : 3 * n]))
            else:  # nothing comes between the three gates: they are computed as one
                opened = f(run.clipped(gates[:, : 3 * n]))
                i, out, forget = opened[:, :n], opened[:, n : 2 * n], opened[:, 2 * n :]
            keep = 1 - i if input_forget else forget
            new_c = keep * c + i * g(run.clipped(gates[:, 3 * n :]))
            if peepholes is not None:
                out = f(run.clipped(gates[:, n : 2 * n] + peepholes[1] * new_c))
            new_h = out * h_of(new_c)
            sequence[t, d] = run.select(active, new_h, 0)
            h, c = run.select(active, new_h, h), run.select(active, new_c, c)
        finals_h.append(h)
        finals_c.append(c)
    return run.outputs(sequence, finals_h, finals_c)


@kernel("GRU", 1, 3, 7, 14, 22)
@in_float32
def gru(
    ctx: KernelContext,
    x: Any,
    w: Any,
    r: Any,
    b: Any = None,
    sequence_lens: Any = None,
    initial_h: Any = None,
    *,
    linear_before_reset: int = 0,
    **shared: Unpack[Recurrent],
) -> Any:
    """Gated recurrent unit, gates in the order update, reset, hidden (GRU 22). Gives Y, Y_h."""
    run = prepare(ctx, x, w, r, b, sequence_lens, ["Sigmoid", "Tanh"], shared)
    xp, n = ctx.xp, run.hidden
    sequence = xp.zeros((run.x.shape[0], len(run.directions), run.batch, n), x.dtype)
    finals = []
    for d in range(len(run.directions)):
        f, g = run.activations[d]
        bias_in, bias_recurrent = run.biases(d)
        gates_in = run.input_gates(d, bias_in)
        recurrent = run.r[d].T
        h = run.initial(initial_h, d)
        for t, active in run.steps(d):
            given = gates_in[t]
            both = given[:, : 2 * n] + xp.matmul(h, recurrent[:, : 2 * n]) + bias_recurrent[: 2 * n]
            both = f(run.clipped(both))
            update, reset = both[:, :n], both[:, n:]
            if linear_before_reset:
                past = reset * (xp.matmul(h, recurrent[:, 2 * n :]) + bias_recurrent[2 * n :])
            else:
                past = xp.matmul(reset * h, recurrent[:, 2 * n :]) + bias_recurrent[2 * n :]
            candidate = g(run.clipped(given[:, 2 * n :] + past))
            new_h = (1 - update) * candidate + update * h
            sequence[t, d] = run.select(active, new_h, 0)
            h = run.select(active, new_h, h)
        finals.append(h)
    return run.outputs(sequence, finals)


@kernel("RNN", 1, 7, 14, 22)
@in_float32
def rnn(
    ctx: KernelContext,
    x: Any,
    w: Any,
    r: Any,
    b: Any = None,
    sequence_lens: Any = None,
    initial_h: Any = None,
    **shared: Unpack[Recurrent],
) -> Any:
    """Simple recurrent network (RNN 22). Gives Y, Y_h."""
    run = prepare(ctx, x, w, r, b, sequence_lens, ["Tanh"], shared)
    xp = ctx.xp
    sequence = xp.zeros((run.x.shape[0], len(run.directions), run.batch, run.hidden), x.dtype)
    finals = []
    for d in range(len(run.directions)):
        (f,) = run.activations[d]
        gates_in, times_r = run.input_gates(d, sum(run.biases(d))), run.times_r[d]
        h = run.initial(initial_h, d)
        for t, active in run.steps(d):
            new_h = f(run.clipped(gates_in[t] + times_r(h)))
            sequence[t, d] = run.select(active, new_h, 0)
            h = run.select(active, new_h, h)
        finals.append(h)
    return run.outputs(sequence, finals)
