"""What is wrong with a model, or worth knowing: findings, never exceptions."""
from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters: an error stops the model from running as meant, a warning may, info does not."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: a stable code, its severity, one sentence for people, and the place it concerns.

    `node` is the qualified name of a node and `tensor` that of a tensor (see `Node.qualified_name`,
    `Tensor.qualified_name`), empty where the finding concerns the whole model.
    """

    code: str
    severity: Severity
    message: str
    node: str = ""
    tensor: str = ""
