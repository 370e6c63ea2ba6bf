# Sourced by scripts/oldest and scripts/newest: the tests that every set of versions must pass.
quick_tests=(tests/config/test_config.py tests/recordings/test_results.py tests/control/qp
    tests/test_experiment.py tests/app/cli/test_cli.py tests/control/test_always_answers.py
    tests/control/test_policy.py tests/app/gym tests/studies/tuning/test_search.py)

# Usage: run_tests PYTHON [PYTEST ARGUMENTS]   the quick ones if none are given
run_tests() {
    local python=$1
    shift
    [ $# -gt 0 ] || set -- "${quick_tests[@]}"
    "$python" -m pip check
    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 "$python" -m pytest -q "$@"
}
