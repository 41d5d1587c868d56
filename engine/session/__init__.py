"""Running a model: a `Session` compiles it once for the chosen providers and runs it on feeds, watched by observers."""
from __future__ import annotations

from engine.session.keep import Keep
from engine.session.observers import CancelToken, Observer, ObserverGroup, ProgressObserver, TimingObserver
from engine.session.session import RunResult, Session, SessionOptions
from engine.session.statistics import Statistics, statistics_of
from engine.session.store import Copy, Fallback
from engine.session.transfers import PlannedCopy, ProviderEdge, provider_edges

__all__ = [
    "CancelToken", "Copy", "Fallback", "Keep", "Observer", "ObserverGroup", "PlannedCopy", "ProgressObserver",
    "ProviderEdge", "RunResult", "Session", "SessionOptions", "Statistics", "TimingObserver", "provider_edges",
    "statistics_of",
]  # fmt: skip
