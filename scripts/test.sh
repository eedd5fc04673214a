#!/usr/bin/env bash
# Runs test suites and counts results: scripts/test.sh [--all] [SUITE...]. Without SUITE, runs the suites that each change must
# pass, in order, and with --all also the suites plain, tls, identity, packages and reference.
#
# Without --all, runs only a sample of the tests in the longest suites; this is the check that each change must pass. SEED, by
# default the commit, selects the sample, so that each commit tests a different one, and `SEED=… make test` repeats it. With
# --all, every suite is complete.
#
# Every suite runs, even if an earlier one failed, and prints its duration in seconds. Tests that cannot run on this machine
# print a line that begins with `SKIPPED:`, and are counted. The last line is `davit: N passed, M failed`; the exit status is
# 0 only if nothing failed. Complete logs are in .build/test-logs.
set -uo pipefail
export LC_ALL=C.UTF-8

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
SWIFT=${SWIFT:-swift}
read -r -a swift_flags <<<"${SWIFT_FLAGS:---explicit-target-dependency-import-check error}"
read -r -a debug_flags <<<"${DEBUG_FLAGS:---explicit-target-dependency-import-check error --traits default,S3}"
logs=.build/test-logs
rm -rf "$logs"
mkdir -p "$logs"

extent=gate
if [ "${1:-}" = --all ]; then
    extent=all
    shift
fi
SEED=${SEED:-$(git rev-parse --short=12 HEAD 2>/dev/null || echo 0)}
export SEED

total_passed=0
total_failed=0
total_skipped=0
failures=()
times=()

# Collects the lines of a log that describe failures, to be repeated at the end. Ignores the lines that Swift Testing prints
# for tests that start or pass, because their arguments may contain the word "error".
keep_failures() {
    grep -vE '^[◇✔]' "$1" | grep -E '✘|(^|[^a-z])(FAILED|FAIL|WARNING|not ok)\b|error: ' | head -n 20 >>"$logs/what-failed"
}

# SwiftPM writes the traits into the command line of each module in hash order. With random hashing, this order changes from run
# to run, so that everything would be compiled again.
swift_build() { SWIFT_DETERMINISTIC_HASHING=1 "$SWIFT" build "$@"; }

section() { printf '\n== %s\n' "$1"; }

# Removes the progress lines of a build, which are only written to the log.
without_progress() { grep --line-buffered -vE '^\[[0-9]+/[0-9]+\] ' || true; }

# keep LOG: writes all input to a log, prints it without progress lines, and counts the skipped tests in it.
keep() {
    tee "$logs/$1" | without_progress
    grep -c '^SKIPPED:' "$logs/$1" >>"$logs/skipped"
    return 0
}

# tally NAME PASSED FAILED: adds a result to the totals.
tally() {
    total_passed=$((total_passed + $2))
    total_failed=$((total_failed + $3))
    [ "$3" -eq 0 ] || failures+=("$1")
}

# step NAME COMMAND...: counts a command as one test, by its exit status.
step() {
    local name=$1
    shift
    if "$@" 2>&1 | keep step; then
        tally "$name" 1 0
    else
        echo "FAILED: $name"
        keep_failures "$logs/step"
        tally "$name" 0 1
    fi
}

# counted NAME COMMAND...: runs a script that ends with a line `...: N passed, M failed`, and adds its counts.
counted() {
    local name=$1 status last
    shift
    "$@" 2>&1 | keep "$name"
    status=${PIPESTATUS[0]}
    last=$(grep -E ': [0-9]+ passed, [0-9]+ failed$' "$logs/$name" | tail -n 1)
    if [[ $last =~ :\ ([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        # A nonzero exit status is a failure even if the script counted none.
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
    # Use make, so that the flags are those of `make build`.
    step "release build" make --no-print-directory build guard-programs fuzz-replay
    # With this variable, the suite fuzz does not build the program again after the debug build.
    export DAVIT_FUZZ_REPLAY=.build/release/FuzzReplay
    step "the command is built without Foundation" without_foundation
    section "build: debug"
    step "debug build" swift_build "${debug_flags[@]}" --build-tests
}

suite_plain() {
    section "build: without traits"
    # This build uses only libraries that Apple's SDKs contain. A separate folder avoids recompiling the other builds.
    step "build without traits" swift_build "${swift_flags[@]}" --disable-default-traits --scratch-path .build/plain
}

# Foundation would add about 40 MB, and tables that are read at startup. Only the product DavitJSON uses Foundation.
without_foundation() {
    [ -x .build/release/davit ] || { echo "the release build is missing, so it cannot be checked"; return 1; }
    # On Apple platforms, Foundation is part of the system.
    [ "$(uname -s)" = Linux ] || return 0
    ldd .build/release/davit >"$logs/libraries" && nm .build/release/davit >"$logs/symbols" || return 1
    if ! grep -q DavitServer "$logs/symbols"; then echo "the release build has no symbols to check"; return 1; fi
    ! grep -i foundation "$logs/libraries" && ! grep -m 3 -E '20FoundationEssentials|10Foundation' "$logs/symbols"
}

# The unit tests run in several processes at the same time, because many of them block a thread while they wait for a
# server, and a process has only as many threads for tests as there are processors.
unit_shards=(
    '^DavitEngineTests\.'
    '^Davit(Transport|Recording|Journal|Archive|Server|Page|Command|Control|)Tests\.'
    '^(Davit(ACME|Access|Accounts|Blobs|Crypto|Discovery|Faults|FileStore|HTTP|JSON|LDAP|Logging|Metrics|OIDC|Outbox|PAM|QRCode|SQLite|Sandbox|Site|Store|Stub|System|WebClient|WebDAV|XML|YAML|Zlib)|StubExample)Tests\.'
)

# unit_shard NUMBER: runs the tests of a shard, and writes a log and a report.
unit_shard() {
    local report=$PWD/$logs/unit-$1 filter=${unit_shards[$1]} program=.build/debug/davitPackageTests.xctest
    if [ -f "$program" ]; then
        "$program" --testing-library swift-testing --filter "$filter" --xunit-output "$report.xml" >"$report" 2>&1
    else
        # On Apple platforms, the tests are a bundle, of which SwiftPM runs only one instance at a time.
        "$SWIFT" test "${debug_flags[@]}" --skip-build --filter "$filter" --xunit-output "$report.xml" >"$report" 2>&1
    fi
}

suite_unit() {
    section "unit tests"
    local shard report counts status targets
    if [ "$extent" = all ]; then
        export DAVIT_TEST_ALL=1
        swift_build "${debug_flags[@]}" --build-tests 2>&1 | without_progress
    fi
    # The tests of a target that is in no shard would not run.
    for targets in Tests/*Tests StubExampleTests; do
        local count=0
        for shard in "${unit_shards[@]}"; do [[ ! "$(basename "$targets")." =~ $shard ]] || count=$((count + 1)); done
        [ "$count" -eq 1 ] || { echo "FAILED: $targets is in $count shards"; tally "unit" 0 1; }
    done
    local processes=()
    for shard in "${!unit_shards[@]}"; do
        unit_shard "$shard" &
        processes+=($!)
    done
    for shard in "${!unit_shards[@]}"; do
        report=$logs/unit-$shard
        status=0
        wait "${processes[$shard]}" || status=$?
        # Print only failed tests, with lines of limited length.
        grep -aE '✘|^(✔ Test run |error: )' "$report" | cut -c 1-600 | head -n 300
        # Swift Testing writes its report to a separate file.
        counts=$(sed -n 's/.*<testsuite .*tests="\([0-9]*\)".*failures="\([0-9]*\)".*/\1 \2/p' \
            "$report.xml" "$report-swift-testing.xml" 2>/dev/null | head -n 1)
        if [ -z "$counts" ]; then
            echo "FAILED: the unit tests of shard $shard did not finish"
            tail -n 30 "$report" | cut -c 1-600
            keep_failures "$report"
            tally "unit" 0 1
            continue
        fi
        local passed failed
        read -r passed failed <<<"$counts"
        passed=$((passed - failed))
        if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
        [ "$failed" -eq 0 ] || keep_failures "$report"
        tally "unit" "$passed" "$failed"
    done
}

# The tests of connections must also pass with TLS.
suite_tls() {
    section "transport tests over TLS"
    step "transport tests over TLS" env DAVIT_TEST_TLS=1 "$SWIFT" test "${debug_flags[@]}" --skip-build \
        --filter DavitTransportTests
}

# The traits that are off by default, in a folder of their own, because each change of the traits recompiles everything.
suite_identity() {
    section "identity"
    local flags=("${swift_flags[@]}" --traits default,ACME,LDAP,OIDC,PAM,Webhooks,NATMapping --scratch-path .build/identity)
    step "build with the identity traits" swift_build "${flags[@]}" --build-tests || return
    step "tests with the identity traits" env SWIFT_DETERMINISTIC_HASHING=1 \
        DAVIT_PAM_HELPER="$PWD/.build/identity/debug/davit-pam-helper" "$SWIFT" test "${flags[@]}" --skip-build \
        --filter 'DavitACMETests|DavitLDAPTests|DavitOIDCTests|DavitPAMTests|DavitOutboxTests|ExternalLogin|IdentityFields|ForwardedUser|ArgumentsTests'
    counted "OpenID Connect" env DAVIT="$PWD/.build/identity/debug/davit" Tests/Identity/oidc.sh
    counted "ACME" env DAVIT="$PWD/.build/identity/debug/davit" python3 Tests/Ops/acme.py
    counted "webhooks" env DAVIT="$PWD/.build/identity/debug/davit" python3 Tests/Ops/webhooks.py
    counted "NAT mapping" env DAVIT="$PWD/.build/identity/debug/davit" python3 Tests/Ops/nat.py
}

suite_lint() {
    section "lint"
    step "swift format" "$SWIFT" format lint --strict --parallel --recursive Sources Tests Examples Fuzz Package.swift
    local script
    while IFS= read -r script; do
        step "$script" bash -n "$script"
    done < <(find scripts litmus Tests .ci -name '*.sh' -o -path '.ci/run' | sort)
    # Code for Apple systems cannot be built on Linux, but its syntax can be checked.
    step "syntax of the code for Apple systems" "$(dirname "$(command -v "$SWIFT")")/swiftc" -frontend -parse \
        -target arm64-apple-macos15 $(find Sources -path '*/Darwin/*.swift')
    step "python scripts" python3 -c '
import ast, pathlib
for folder in ("Tests", "bench", "scripts"):
    for path in pathlib.Path(folder).rglob("*.py"):
        ast.parse(path.read_text(), str(path))'
    step "the code blocks in the documentation are compiled, and its files exist" python3 scripts/check-docs.py
    step "each row about GCDWebServer has a test" python3 scripts/check-rows.py
    step "memory of a node is explained" python3 scripts/check-nodes.py
    step "C modules leave the types of the C library to its module" python3 scripts/check-shims.py
    step "the tests that the documentation names exist" python3 scripts/check-conformance.py
    step "the options are in the documentation" python3 scripts/check-options.py
    step "the JSON Schema of configuration files accepts the documented files" python3 scripts/check-schema.py
    local check
    for check in page structure type-names words; do
        step "the check of $check finds planted faults" python3 "scripts/check-$check.py" --self-test
    done
    step "the page's files can be sent line by line" python3 scripts/check-page.py
    step "the picture of the targets is up to date" python3 scripts/draw-targets.py --check
    step "folders, targets and scripts have no new cycles" python3 scripts/check-structure.py
    step "each type name is declared once" python3 scripts/check-type-names.py
    step "the texts contain no private idioms" python3 scripts/check-words.py
}

suite_reference() {
    section "reference"
    step "debug build, for its modules" swift_build "${debug_flags[@]}"
    step "the reference has no gaps and no warnings" python3 scripts/reference.py build
}

suite_guard() {
    section "guard"
    counted "guard" python3 Tests/Guard/guard.py
    counted "instructions" python3 Tests/Guard/instructions.py
    step "the instruction count detects a request that costs 3 % more" python3 Tests/Guard/instructions.py --self-test
    counted "writes to shared memory" python3 Tests/Guard/sharing.py
}

suite_fuzz() {
    section "fuzz"
    counted "the replay finds planted faults" scripts/fuzz.sh --self-test
    if [ "$extent" = all ]; then counted "fuzz" scripts/fuzz.sh 60; else counted "fuzz" scripts/fuzz.sh --replay 100000; fi
}

suite_litmus() {
    section "litmus"
    counted "litmus" litmus/run.sh
    counted "litmus over TLS" litmus/run.sh --tls
    counted "litmus with a user" litmus/run.sh --user 'anna:open:sesame'
    counted "litmus with limited rights" litmus/run.sh --user 'anna:open:sesame' --limited
    counted "litmus in a mounted folder" litmus/run.sh --mount
    counted "litmus below a prefix" litmus/run.sh --program .build/debug/MountedShare
}

suite_examples() {
    section "examples"
    counted "examples" Tests/Examples/run.sh
}

suite_clients() {
    section "clients"
    if [ "$extent" = all ]; then counted "clients" Tests/Clients/run.sh --all; else counted "clients" Tests/Clients/run.sh; fi
}

suite_deployment() {
    section "deployment"
    counted "deployment" python3 Tests/Deployment/deployment.py
}

suite_ops() {
    section "ops"
    counted "ops" python3 Tests/Ops/ops.py
    counted "sandbox" python3 Tests/Ops/sandbox.py
    # These change the network and the users of the machine, in namespaces of their own.
    if [ "$extent" = all ]; then
        counted "pages" python3 Tests/Ops/pages.py
        counted "discovery" python3 Tests/Ops/discovery.py
    fi
}

suite_packages() {
    section "packages"
    counted "packages" python3 Tests/Ops/packages.py
    counted "image" python3 Tests/Ops/image.py
}

suite_recordings() {
    section "recordings"
    counted "recordings" Tests/Recordings/run.sh
}

suite_browser() {
    section "browser"
    if [ "$extent" = all ]; then
        counted "browser" Tests/Browser/run.sh
    else
        counted "browser" Tests/Browser/run.sh --short --every 4 --seed "$SEED"
    fi
}

suite_crash() {
    section "crash"
    if [ "$extent" = all ]; then
        counted "crash" python3 Tests/Crash/crash.py
    else
        counted "crash" python3 Tests/Crash/crash.py --every 16 --seed "$SEED" --outside 4 --megabytes 50
    fi
}

suite_cluster() {
    section "several servers for one share"
    if [ "$extent" = all ]; then
        counted "cluster" scripts/cluster.sh
    else
        counted "cluster" scripts/cluster.sh --short
    fi
}

gate=(build lint unit guard litmus examples recordings clients browser deployment ops crash cluster fuzz)
suites=("$@")
if [ ${#suites[@]} -eq 0 ]; then
    suites=("${gate[@]}")
    [ "$extent" = gate ] || suites+=(plain tls identity packages reference)
fi
for suite in "${suites[@]}"; do
    # Without this check, a misspelled suite would pass without running any test.
    declare -F "suite_$suite" >/dev/null || { echo "test.sh: unknown suite '$suite'" >&2; exit 64; }
done
[ "$extent" = all ] || echo "seed: $SEED"
for suite in "${suites[@]}"; do
    started=$SECONDS
    "suite_$suite"
    times+=("$(printf '%6d s  %s' $((SECONDS - started)) "$suite")")
done

section "result"
[ ! -s "$logs/what-failed" ] || cut -c 1-600 "$logs/what-failed"
[ ${#failures[@]} -eq 0 ] || printf 'failed: %s\n' "${failures[@]}"
printf '%s\n' "${times[@]}"
printf '%6d s  in total\n' "$SECONDS"
[ ! -s "$logs/skipped" ] || total_skipped=$(awk '{ sum += $1 } END { print sum }' "$logs/skipped")
echo "skipped: $total_skipped"
echo "davit: $total_passed passed, $total_failed failed"
[ "$total_failed" -eq 0 ]
