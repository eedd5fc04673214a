#!/usr/bin/env bash
# Runs the test suites and counts: scripts/test.sh [SUITE...]; without arguments all of them, but of the clients only
# those that need little.
#
# Every suite runs, whatever the ones before it said. The last line is `davit: N passed, M failed`; the exit
# status is 0 only if nothing failed.
set -uo pipefail
export LC_ALL=C.UTF-8

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
SWIFT=${SWIFT:-swift}
read -r -a swift_flags <<<"${SWIFT_FLAGS:---explicit-target-dependency-import-check error}"
logs=$(mktemp -d "${TMPDIR:-/tmp}/davit-test.XXXXXX")
trap 'rm -rf "$logs"' EXIT

total_passed=0
total_failed=0
failures=()

# Lines of a log that say what failed, for the end, where everybody looks first. What Swift Testing prints of a test
# that starts or passes may hold the word "error" in its arguments.
keep_failures() {
    grep -vE '^[◇✔]' "$1" | grep -E '✘|(^|[^a-z])(FAILED|FAIL|WARNING|not ok)\b|error: ' | head -n 20 >>"$logs/what-failed"
}

section() { printf '\n== %s\n' "$1"; }

# tally NAME PASSED FAILED
tally() {
    total_passed=$((total_passed + $2))
    total_failed=$((total_failed + $3))
    [ "$3" -eq 0 ] || failures+=("$1")
}

# step NAME COMMAND...: counts as one, by its exit status.
step() {
    local name=$1
    shift
    if "$@" 2>&1 | tee "$logs/step"; then
        tally "$name" 1 0
    else
        echo "FAILED: $name"
        keep_failures "$logs/step"
        tally "$name" 0 1
    fi
}

# counted NAME COMMAND...: a script that ends with a line `...: N passed, M failed`.
counted() {
    local name=$1 status last
    shift
    "$@" 2>&1 | tee "$logs/$name"
    status=${PIPESTATUS[0]}
    last=$(grep -E ': [0-9]+ passed, [0-9]+ failed$' "$logs/$name" | tail -n 1)
    if [[ $last =~ :\ ([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        # A script that fails without counting a failure has failed all the same.
        local failed=${BASH_REMATCH[2]}
        if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
        [ "$failed" -eq 0 ] || keep_failures "$logs/$name"
        tally "$name" "${BASH_REMATCH[1]}" "$failed"
    else
        echo "FAILED: $name ended with status $status and no count"
        keep_failures "$logs/$name"
        tally "$name" 0 1
    fi
}

suite_build() {
    section "build: release"
    # The product's own name in the log of make; the flags are those of `make build`.
    step "release build" make --no-print-directory build
    step "the command is built without Foundation" without_foundation
    section "build: debug"
    step "debug build" "$SWIFT" build "${swift_flags[@]}" --build-tests
    section "build: without traits"
    # With nothing but what Apple's SDKs hold; a folder of its own, so that the other builds stay as they are.
    step "build without traits" "$SWIFT" build "${swift_flags[@]}" --disable-default-traits --scratch-path .build/plain
}

# Foundation would be some 40 MB, and tables that are read at start. Only the product DavitJSON has it.
without_foundation() {
    [ -x .build/release/davit ] || { echo "there is no release build to look at"; return 1; }
    # On Apple systems it is part of the system.
    [ "$(uname -s)" = Linux ] || return 0
    ldd .build/release/davit >"$logs/libraries" && nm .build/release/davit >"$logs/symbols" || return 1
    if ! grep -q DavitServer "$logs/symbols"; then echo "the symbols were stripped: nothing to see"; return 1; fi
    ! grep -i foundation "$logs/libraries" && ! grep -m 3 -E '20FoundationEssentials|10Foundation' "$logs/symbols"
}

suite_unit() {
    section "unit tests"
    local report=$logs/units status=0 counts passed failed
    "$SWIFT" test "${swift_flags[@]}" --xunit-output "$report.xml" 2>&1 | tee "$report" || status=$?
    # Swift Testing writes its report beside the one of XCTest.
    counts=$(sed -n 's/.*<testsuite .*tests="\([0-9]*\)".*failures="\([0-9]*\)".*/\1 \2/p' \
        "$report-swift-testing.xml" 2>/dev/null | head -n 1)
    if [ -z "$counts" ]; then
        echo "FAILED: the unit tests did not come to their end"
        keep_failures "$report"
        tally "unit" 0 1
        return
    fi
    read -r passed failed <<<"$counts"
    passed=$((passed - failed))
    if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
    [ "$failed" -eq 0 ] || keep_failures "$report"
    tally "unit" "$passed" "$failed"
    # What holds for a connection holds for one with TLS.
    step "the transport's tests over TLS" env DAVIT_TEST_TLS=1 "$SWIFT" test "${swift_flags[@]}" --skip-build \
        --filter DavitTransportTests
}

suite_lint() {
    section "lint"
    step "swift format" "$SWIFT" format lint --strict --recursive Sources Tests Examples Fuzz Package.swift
    local script
    while IFS= read -r script; do
        step "$script" bash -n "$script"
    done < <(find scripts litmus Tests .ci -name '*.sh' -o -path '.ci/run' | sort)
    # Code for Apple systems cannot be built elsewhere; its syntax can be checked.
    step "syntax of the code for Apple systems" "$(dirname "$(command -v "$SWIFT")")/swiftc" -frontend -parse \
        -target arm64-apple-macos15 $(find Sources -path '*/Darwin/*.swift')
    step "python scripts" python3 -c '
import ast, pathlib
for folder in ("Tests", "bench", "scripts"):
    for path in pathlib.Path(folder).rglob("*.py"):
        ast.parse(path.read_text(), str(path))'
    step "the code in the documentation is compiled" python3 scripts/check-docs.py
    step "each row of GCDWebServer has its test" python3 scripts/check-rows.py
    step "debug build, for its modules" "$SWIFT" build "${swift_flags[@]}"
    step "the reference has no gaps and no warnings" python3 scripts/reference.py build
    step "the tests that the documentation names exist" python3 scripts/check-conformance.py
    step "the options are in the help and in the documentation" python3 scripts/check-options.py
}

suite_guard() {
    section "guard"
    step "the program of the guard" make --no-print-directory guard-programs
    counted "guard" python3 Tests/Guard/guard.py
}

suite_fuzz() {
    section "fuzz"
    counted "fuzz" scripts/fuzz.sh 10
}

suite_litmus() {
    section "litmus"
    counted "litmus" litmus/run.sh
    counted "litmus over TLS" litmus/run.sh --tls
    counted "litmus with a user" litmus/run.sh --user 'anna:open:sesame'
    counted "litmus below a prefix" litmus/run.sh --program .build/debug/MountedShare
}

suite_examples() {
    section "examples"
    counted "examples" Tests/Examples/run.sh
}

suite_clients() {
    section "clients"
    counted "clients" Tests/Clients/run.sh
}

suite_all_clients() {
    section "all clients"
    counted "clients" Tests/Clients/run.sh --all
}

suite_deployment() {
    section "deployment"
    counted "deployment" python3 Tests/Deployment/deployment.py
}

suite_recordings() {
    section "recordings"
    counted "recordings" Tests/Recordings/run.sh
}

suite_browser() {
    section "browser"
    counted "browser" Tests/Browser/run.sh --short
}

# With all that takes long.
suite_whole_browser() {
    section "browser, all of it"
    counted "browser" Tests/Browser/run.sh
}

suite_crash() {
    section "crash"
    counted "crash" python3 Tests/Crash/crash.py
}

suites=("$@")
[ ${#suites[@]} -gt 0 ] || suites=(build unit lint guard fuzz litmus examples recordings clients browser deployment crash)
for suite in "${suites[@]}"; do "suite_$suite"; done

section "result"
[ ! -s "$logs/what-failed" ] || cat "$logs/what-failed"
[ ${#failures[@]} -eq 0 ] || printf 'failed: %s\n' "${failures[@]}"
echo "davit: $total_passed passed, $total_failed failed"
[ "$total_failed" -eq 0 ]
