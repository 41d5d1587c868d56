"""The first command on a new machine: what is missing is installed, or said in one line that can be typed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
POSIX_TOOLS = ("sh", "dirname", "uname", "mktemp", "cat", "rm", "env")


class BareMachine:
    """A copy of the bootstrap in a folder of its own, with nothing on PATH but what a test puts there."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.bin.mkdir()
        (folder / "packaging").mkdir()
        self.script = shutil.copy(ROOT / "packaging" / "bootstrap.sh", folder / "packaging")
        for tool in POSIX_TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool) or f"/bin/{tool}")

    def command(self, name: str, body: str) -> None:
        file = self.bin / name
        file.write_text(f"#!{self.bin}/sh\n{body}\n")
        file.chmod(0o755)

    def start(self, purpose: str = "test") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.script, purpose],
            env={"PATH": str(self.bin)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path) -> BareMachine:
    """A Debian whose python3 is new enough but has no `ensurepip`, as Debian splits it; the user is not root."""
    bare = BareMachine(tmp_path)
    bare.command("python3", 'case "$2" in *ensurepip*) exit 1;; esac')
    bare.command("id", "echo 1000")
    return bare


def test_without_root_the_line_to_type_is_printed(machine: BareMachine) -> None:
    machine.command("apt-get", "echo apt must not be called; exit 1")
    done = machine.start()
    assert done.returncode == 1
    line = done.stderr.splitlines()[-1]
    assert "sudo apt-get install -y --no-install-recommends python3-venv " in line
    # Once is enough: what later steps would miss is in the same line.
    assert {"libegl1", "libxcb-cursor0", "gcc"} <= set(line.split())
    assert "must not be called" not in done.stdout + done.stderr


def test_passwordless_sudo_installs(machine: BareMachine, tmp_path: Path) -> None:
    machine.command("sudo", 'shift; exec "$@"')
    machine.command("true", "exit 0")
    machine.command("apt-get", f'echo "$@" >> {tmp_path}/apt')
    machine.start()
    update, install = (tmp_path / "apt").read_text().splitlines()
    assert update.endswith(" update")
    assert install.endswith(" install -y --no-install-recommends python3-venv")


def test_failing_apt_shows_its_output(machine: BareMachine) -> None:
    machine.command("id", "echo 0")
    machine.command("apt-get", "echo E: no network here; exit 100")
    done = machine.start()
    assert done.returncode == 1
    assert "E: no network here" in done.stderr
    assert "could not install: python3-venv" in done.stderr


def test_system_without_apt_names_the_packages(machine: BareMachine) -> None:
    done = machine.start()
    assert done.returncode == 1
    assert "python3-venv (with this system's own package manager)" in done.stderr


def test_old_python_is_refused(machine: BareMachine) -> None:
    machine.command("python3", "exit 1")
    done = machine.start()
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a display")
def test_make_run_without_a_display_says_what_to_do() -> None:
    lacking = {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "MAKEFLAGS", "MAKELEVEL"}
    env = {key: value for key, value in os.environ.items() if key not in lacking}
    done = subprocess.run(["make", "run"], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "no display here" in done.stderr
    assert "make smoke" in done.stderr
    assert done.stdout == ""
