# Sourced by the scripts beside it: makes the virtual environment .venv with the package in it.
# Usage: prepare EXTRAS   (for example "dev"; empty for the core alone)
#        prepare_locked   the core in the very versions and files of scripts/demo.lock
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

make_environment() {
    local python=${PYTHON:-python3}
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        echo "balance needs Python 3.11 or newer; set PYTHON to one (found: $("$python" --version 2>&1))" >&2
        exit 1
    fi
    if [ ! -x .venv/bin/python ]; then
        echo "Making the virtual environment .venv"
        "$python" -m venv .venv
    fi
    # One BLAS thread: the matrices are small, and runs stay the same bit for bit.
    export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
}

prepare() {
    local extras=$1 stamp
    make_environment
    stamp=".venv/.balance-${extras:-core}-$(cksum < pyproject.toml | tr -d ' ')"
    if [ ! -e "$stamp" ]; then
        echo "Installing balance${extras:+ with the extras: $extras} (only after a change of pyproject.toml)"
        .venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".${extras:+[$extras]}"
        touch "$stamp"
    fi
}

prepare_locked() {
    make_environment
    echo "Installing balance with the versions and hashes of scripts/demo.lock"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
        --requirement scripts/demo.lock
    # What builds it is in the lock as well: nothing else is fetched.
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
    .venv/bin/python -m pip check
}

# Chromium for the tests of the live lab: installed with apt where that is possible.
find_browser() {
    if command -v chromium >/dev/null || command -v chromium-browser >/dev/null; then
        return
    fi
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Installing Chromium for the tests in a browser"
        if apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; then
            return
        fi
    fi
    echo "No Chromium: the tests in a real browser are skipped (Debian: apt install chromium)"
}

# Database servers for the tests of shared studies, likewise; the tests start them, no service does.
find_databases() {
    if [ -n "$(command -v mariadbd)" ] && ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1; then
        return
    fi
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Installing PostgreSQL and MariaDB for the tests of shared studies"
        if apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
            --no-install-recommends postgresql mariadb-server-core mariadb-client-core >/dev/null; then
            return
        fi
    fi
    echo "No PostgreSQL or MariaDB: the tests on real servers are skipped (Debian: apt install postgresql mariadb-server)"
}
