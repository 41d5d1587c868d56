"""Running a model: a `Session` compiles it once for the chosen providers and runs it on feeds, watched by observers."""
from __future__ import annotations

from engine.session.observers import CancelToken, Observer, ObserverGroup, ProgressObserver, TimingObserver
from engine.session.session import RunResult, Session, SessionOptions
from engine.session.store import Copy, Fallback

__all__ = [
    "CancelToken", "Copy", "Fallback", "Observer", "ObserverGroup", "ProgressObserver", "RunResult", "Session",
    "SessionOptions", "TimingObserver",
]  # fmt: skip
