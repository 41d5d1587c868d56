#!/bin/sh
# Makes .venv ready for one purpose on a machine that may be bare:
#
#     packaging/bootstrap.sh run|test|package
#
# System packages are installed only where something is found missing, by apt as root or through passwordless sudo;
# otherwise the one line to type is printed. Nothing is asked, so that CI without standard input can run it.
set -eu
cd "$(dirname "$0")/.."

purpose=${1:?purpose: run, test or package}
venv=.venv
qt_packages="libgl1 libegl1 libglib2.0-0 libfontconfig1 libxkbcommon0 libdbus-1-3"
xcb_packages="libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 libxkbcommon-x11-0"
# All that any purpose may miss: who has to type the line by hand should have to type it once.
all_packages="python3-venv $qt_packages $xcb_packages gcc libc6-dev"

say() { printf '%s\n' "oinfer: $*" >&2; }
die() { say "$*"; exit 1; }

# install_system REASON PACKAGE...
install_system() {
    reason=$1; shift
    say "$reason"
    command -v apt-get >/dev/null || die "install what Debian calls: $* (with this system's own package manager), then try again"
    if [ "$(id -u)" -eq 0 ]; then as_root=""
    elif sudo -n true 2>/dev/null; then as_root="sudo -n"
    else
        for package in "$@"; do case " $all_packages " in *" $package "*) ;; *) all_packages="$all_packages $package" ;; esac; done
        die "type this once, then try again:  sudo apt-get install -y --no-install-recommends $all_packages"
    fi
    say "installing $*"
    apt="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300"
    log=$(mktemp)
    { $apt update && $apt install -y --no-install-recommends "$@"; } >"$log" 2>&1 </dev/null \
        || { cat "$log" >&2; die "apt-get could not install: $*"; }
    rm -f "$log"
}

# The first Python of at least 3.11 on the path (the plain python3 of macOS is older).
find_python() {
    for name in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
}

make_venv() {
    [ -x "$venv/bin/python" ] && "$venv/bin/python" -m pip --version >/dev/null 2>&1 && return
    python=$(find_python)
    [ -n "$python" ] || die "Python 3.11 or newer is needed: install it (Debian: apt-get install python3; macOS: brew install python) or name it with PYTHON=/path/to/python3"
    "$python" -c 'import ensurepip, venv' 2>/dev/null \
        || install_system "$python cannot make virtual environments" python3-venv
    say "making $venv with $python"
    "$python" -m venv --clear "$venv"
}

install_python_packages() {
    case $purpose in
        run) extras="" ;;
        test | package) extras="[test,package]" ;;
        *) die "unknown purpose: $purpose" ;;
    esac
    say "installing Python packages for $purpose (the first time takes some minutes)"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input -e ".$extras" </dev/null
}

qt_missing() {
    ! QT_QPA_PLATFORM=offscreen "$venv/bin/python" -c \
        'from PySide6 import QtNetwork, QtOpenGLWidgets, QtPrintSupport, QtSvg, QtWidgets; QtWidgets.QApplication([])' 2>/dev/null
}

# The X11 plug-in is opened by hand: what it links to is what a real window needs.
xcb_missing() {
    ! "$venv/bin/python" -c '
import ctypes, pathlib, PySide6
ctypes.CDLL(str(pathlib.Path(PySide6.__file__).parent / "Qt/plugins/platforms/libqxcb.so"))' 2>/dev/null
}

make_qt_work() {
    [ "$(uname)" = Linux ] || return 0
    if qt_missing; then install_system "Qt's system libraries are missing" $qt_packages; fi
    # A frozen build carries these libraries along, so that they must be here when it is made.
    if [ "$purpose" != test ] && xcb_missing; then
        install_system "the libraries for a window on X11 are missing" $xcb_packages
    fi
    ! qt_missing || { QT_QPA_PLATFORM=offscreen "$venv/bin/python" -c 'import PySide6.QtWidgets'; die "Qt still cannot start"; }
}

# The tests build a stand-in for macOS's Accelerate, so that its provider is held on every system.
make_tests_work() {
    if [ "$purpose" != test ] || [ "$(uname)" != Linux ]; then return 0; fi
    command -v cc >/dev/null || install_system "the tests need a C compiler" gcc libc6-dev
}

# PyInstaller copies libpython and edits ELF sections.
make_packaging_work() {
    if [ "$purpose" != package ] || [ "$(uname)" != Linux ]; then return 0; fi
    command -v objcopy >/dev/null || install_system "binutils are missing" binutils
    "$venv/bin/python" -c '
from PyInstaller.depend.bindepend import get_python_library_path
get_python_library_path()' 2>/dev/null || {
        version=$("$venv/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        install_system "Python's shared library is missing" "libpython$version"
    }
}

make_venv
install_python_packages
make_qt_work
make_tests_work
make_packaging_work
