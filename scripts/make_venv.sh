#!/bin/sh
# Make .venv with a working pip, from nothing but a Python >= 3.11. Needs no root and no other package.
#
# Debian and Ubuntu split `ensurepip` off into python3-venv, and a machine may lack it. Then the
# distribution's own pip wheel is fetched with apt (signed, from the sources this machine already
# uses) and unpacked into the build folder: nothing is installed on the machine.
set -eu

venv=${1:-.venv}
build=$venv.bootstrap

say() { printf '%s\n' "$*" >&2; }

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

pick_python() {
  candidates=${PYTHON:-python3 python3.13 python3.12 python3.11}
  for candidate in $candidates; do
    if new_enough "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  say "Sandtable needs Python 3.11 or newer; none of these is: $candidates."
  say "Install one (Debian 12+, Ubuntu 24.04+: sudo apt-get install python3), or name it:"
  say "    make PYTHON=/path/to/python3.12 setup"
  exit 1
}

# Lists and cache of its own, so that apt neither needs root nor finds a machine's lists missing.
apt_private() {
  apt-get -qq -o Dir::State::Lists="$build/lists" -o Dir::Cache="$build/cache" \
    -o APT::Sandbox::User=root "$@"
}

unpack_from_distribution() {
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
  mkdir -p "$build/lists/partial" "$build/cache/archives/partial"
  apt_private update >&2 || return 1
  (cd "$build" && apt_private download python3-pip-whl ca-certificates >&2) || return 1
  for package in "$build"/*.deb; do dpkg-deb -x "$package" "$build/unpacked"; done
}

find_pip_wheel() {
  for wheel in /usr/share/python-wheels/pip-*.whl "$build"/unpacked/usr/share/python-wheels/pip-*.whl; do
    if [ -f "$wheel" ]; then
      printf '%s\n' "$wheel"
      return
    fi
  done
  return 1
}

# A machine without ca-certificates cannot check the package index's certificate: lend it the distribution's.
certificates() {
  if [ -n "${PIP_CERT:-}" ] || [ -s /etc/ssl/certs/ca-certificates.crt ]; then
    return
  fi
  cat "$build"/unpacked/usr/share/ca-certificates/mozilla/*.crt >"$build/certificates.pem"
  printf '%s\n' "--cert=$build/certificates.pem"
}

python=$(pick_python)
rm -rf "$venv" "$build"

if "$python" -c 'import ensurepip' 2>/dev/null; then
  "$python" -m venv "$venv"
  exit 0
fi

say "This Python has no ensurepip (package python3-venv): taking pip from the distribution's archive."
mkdir -p "$build"
trap 'rm -rf "$build"' EXIT
build=$(cd "$build" && pwd)
if ! { wheel=$(find_pip_wheel) || { unpack_from_distribution && wheel=$(find_pip_wheel); }; }; then
  say "Could not get pip without installing anything. Run this once, then make again:"
  say "    sudo apt-get install python3-venv"
  exit 1
fi
"$python" -m venv --without-pip "$venv"
# The lock pins pip itself: what the distribution ships only fetches that one.
sed -n '/^pip==/,/^    #/p' requirements/runtime.lock.txt >"$build/pip.lock.txt"
"$venv/bin/python" "$wheel/pip" $(certificates) install --quiet --disable-pip-version-check \
  --require-hashes --only-binary :all: --requirement "$build/pip.lock.txt"
