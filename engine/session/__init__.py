"""Running a model: a `Session` compiles it once for the chosen providers and runs it on feeds, watched by observers."""
from __future__ import annotations

from engine.session.keep import Keep
from engine.session.observers import (
    CancelToken,
    Observer,
    ObserverGroup,
    ProgressObserver,
    ShapeObserver,
    TimingObserver,
)
from engine.session.session import Mode, RunResult, Session, SessionOptions
from engine.session.statistics import Statistics, statistics_of
from engine.session.stepping import Feedback, parse_feedback, run_steps, suggest_feedback
from engine.session.store import Copy, Fallback
from engine.session.transfers import PlannedCopy, ProviderEdge, provider_edges

__all__ = [
    "CancelToken", "Copy", "Fallback", "Feedback", "Keep", "Mode", "Observer", "ObserverGroup", "PlannedCopy",
    "ProgressObserver", "ProviderEdge", "RunResult", "Session", "SessionOptions", "ShapeObserver", "Statistics",
    "TimingObserver", "parse_feedback", "provider_edges", "run_steps", "statistics_of", "suggest_feedback",
]  # fmt: skip
