"""Whether two values agree, how far they are apart, and what that means in words."""
from __future__ import annotations

from engine.agreement.tolerance import PROVIDER_RTOL, RTOL, Tolerance, Tolerances, noise_words
from engine.agreement.values import Agreement, compare_values

__all__ = ["PROVIDER_RTOL", "RTOL", "Agreement", "Tolerance", "Tolerances", "compare_values", "noise_words"]
