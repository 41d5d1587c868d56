"""What nodes cost by their inferred shapes: multiply-accumulates, floating-point operations and bytes.

Costs are dims: expressions over the model's input symbols, or ints under a `Binder`. They count what the operator's
definition asks for, whatever a kernel makes of it: see `engine.costs.formulas` for the conventions.
"""

from __future__ import annotations

from engine.costs.cost import Cost
from engine.costs.nodes import NodeCosts, node_cost, tensor_bytes
from engine.costs.totals import CostTable, Totals, cost_table

__all__ = ["Cost", "CostTable", "NodeCosts", "Totals", "cost_table", "node_cost", "tensor_bytes"]
