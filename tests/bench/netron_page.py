"""Netron's page in a headless Chromium, driven by the DevTools protocol over a pipe: when it has drawn a model.

Every run has a server and a browser profile of its own, and the browser reaches nothing but the loopback interface.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

HOST = "127.0.0.1"
SERVER_SECONDS, END_SECONDS = 30.0, 5.0
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless=new", "--no-sandbox", "--no-first-run", "--disable-extensions", "--disable-background-networking",
    "--disable-component-update", "--window-size=1280,900", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-pipe",
)  # fmt: skip
# The question for consent would wait for a click; the graph is on the page once the body is "default" and no spinner.
WATCH = """
document.cookie = "consent=1";
window.painted = new Promise((resolve) => {
    const look = () => {
        const names = document.body ? document.body.classList : null;
        if (names && names.contains("alert")) {
            resolve(document.getElementById("message-text").innerText);
        } else if (names && names.contains("default") && !names.contains("spinner")) {
            requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())));
        } else {
            requestAnimationFrame(look);
        }
    };
    requestAnimationFrame(look);
});
"""


class PageError(Exception):
    """The server, the browser or the page did not do what it should; says why."""


def find_browser() -> str | None:
    """The Chromium of this machine."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def find_netron() -> str | None:
    """The netron of this machine: the command of that name, or what NETRON names."""
    return shutil.which(os.environ.get("NETRON", "netron"))


def painted_seconds(netron: str, browser: str, model: Path, timeout: float = 600.0) -> float:
    """Seconds from the start of navigation to two frames after the graph appears.

    Raises
    ------
    PageError: the server or the browser did not start, or the page said that it can't show the model.
    """
    with _server(netron, model) as url, Page(browser) as page:
        page.call("Page.enable")
        page.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        page.call("Page.navigate", url=url)
        painted = page.value("window.painted", timeout)
    if not isinstance(painted, int | float):
        raise PageError(f"Netron says of {model.name}: {painted}")
    return painted / 1e3


@contextlib.contextmanager
def _server(netron: str, model: Path) -> Iterator[str]:
    """A server on `model` for as long as the block takes; its address."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    command = [netron, str(model), "--host", HOST, "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + SERVER_SECONDS
        while not _answers(port):
            if process.poll() is not None or time.monotonic() > end:
                raise PageError(f"{netron} does not serve {model}")
            time.sleep(0.05)
        yield f"http://{HOST}:{port}/"
    finally:
        _end(process)


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1.0):
        return True
    return False


class Page:
    """One empty page of a browser of its own, which ends with the block."""

    def __init__(self, browser: str) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="oinfer-netron-", ignore_cleanup_errors=True)
        self._browser = _Browser([browser, *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"])
        self._rest, self._calls, self._session = b"", 0, ""
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def __enter__(self) -> Page:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._browser.end()
        self._profile.cleanup()

    def value(self, expression: str, timeout: float) -> Any:
        """What an expression, or the promise it stands for, comes to; after `timeout` seconds an error."""
        answer = self.call(
            "Runtime.evaluate", expression=f"Promise.race([{expression}, new Promise((_, fail) => "
            f"setTimeout(() => fail(new Error('nothing for {timeout:.0f} s')), {timeout * 1e3:.0f}))])",
            awaitPromise=True, returnByValue=True,
        )  # fmt: skip
        if "exceptionDetails" in answer:
            raise PageError(answer["exceptionDetails"].get("exception", {}).get("description", "the page failed"))
        return answer["result"].get("value")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol and wait for its answer."""
        self._calls += 1
        message: dict[str, Any] = {"id": self._calls, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._browser.writer.write(json.dumps(message).encode() + b"\0")
        self._browser.writer.flush()
        while True:
            answer = self._receive()
            if answer.get("id") == self._calls:
                if "error" in answer:
                    raise PageError(f"{method}: {answer['error'].get('message')}")
                result: dict[str, Any] = answer["result"]
                return result

    def _receive(self) -> dict[str, Any]:
        """The next message; they end in a zero byte."""
        while b"\0" not in self._rest:
            piece = self._browser.reader.read1(1 << 16)
            if not piece:
                raise PageError("the browser has ended")
            self._rest += piece
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message


class _Browser:
    """A process that reads from its descriptor 3 and writes to 4, as Chromium expects."""

    def __init__(self, command: Sequence[str]) -> None:
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        # Above the numbers given away below, which may be those of the pipes themselves.
        reads, writes = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (theirs_in, theirs_out))
        quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
        pipes = [(os.POSIX_SPAWN_DUP2, reads, 3), (os.POSIX_SPAWN_DUP2, writes, 4)]
        self._pid = os.posix_spawn(command[0], command, os.environ, file_actions=[*quiet, *pipes])
        for end in (theirs_in, theirs_out, reads, writes):
            os.close(end)
        self.reader, self.writer = os.fdopen(ours_in, "rb"), os.fdopen(ours_out, "wb")

    def end(self) -> None:
        os.kill(self._pid, signal.SIGTERM)
        limit = time.monotonic() + END_SECONDS
        while os.waitpid(self._pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > limit:
                os.kill(self._pid, signal.SIGKILL)
            time.sleep(0.02)
        self.reader.close()
        with contextlib.suppress(BrokenPipeError):
            self.writer.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
