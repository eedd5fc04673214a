#!/usr/bin/env bash
# Fuzzes the parsers of network input: scripts/fuzz.sh [SECONDS | --runs N [TARGET...]], by default 600 seconds per target.
#
# Runs one target per core at a time. Keeps new inputs in .build/fuzz-corpus for the next run, and inputs that break an
# invariant in .build/fuzz-findings. With --runs, each target runs N inputs that are generated from a fixed seed and the
# checked-in inputs only, so that the same program always has the same result. The last line is `fuzz: N passed, M failed`.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

if [ "${1:-}" = --runs ]; then
    limit=(-runs="${2:?--runs needs a number}" -seed=1)
    corpora=$(mktemp -d "${TMPDIR:-/tmp}/davit-fuzz.XXXXXX")
    trap 'rm -rf "$corpora"' EXIT
    # Make the order of hash tables deterministic, so that coverage is the same in each run.
    export SWIFT_DETERMINISTIC_HASHING=1
    targets=("${@:3}")
else
    limit=(-max_total_time="${1:-600}")
    corpora=.build/fuzz-corpus
    targets=("${@:2}")
fi
SWIFT=${SWIFT:-swift}
scratch=.build/fuzz
# Let libFuzzer handle traps, so that it saves the input.
export SWIFT_BACKTRACE=enable=no

# Instrument all modules for coverage, and link libFuzzer into the executable. gold cannot link it.
# Deterministic hashing avoids that SwiftPM compiles everything again, as in test.sh.
DAVIT_FUZZ=1 SWIFT_DETERMINISTIC_HASHING=1 "$SWIFT" build -c release --scratch-path "$scratch" --product DavitFuzz \
    -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld || exit 1
program=$scratch/release/DavitFuzz

# Run all targets that the program lists, so that new ones are included; each has its own seeds and dictionary.
if [ ${#targets[@]} -eq 0 ]; then
    read -r -a targets <<<"$("$program" | sed -n 's/^usage: DavitFuzz \([a-z|]*\) .*/\1/p' | tr '|' ' ')"
fi

# run_target NAME: prints its complete output when it ends, because other targets run at the same time.
run_target() {
    local target=$1 output status=0 length=600
    local corpus=$corpora/$target findings=.build/fuzz-findings/$target
    mkdir -p "$corpus" "$findings"
    # Use short inputs: splitting at every byte takes time proportional to the square of the length.
    [ "$target" != xml ] || length=2000
    output=$("$program" "$target" "${limit[@]}" -timeout=30 -rss_limit_mb=1024 -max_len="$length" -verbosity=0 \
        -print_final_stats=1 -dict="Fuzz/Dictionaries/$target" -artifact_prefix="$findings/" "$corpus" "Fuzz/Seeds/$target" 2>&1) \
        || status=$?
    if [ "$status" -eq 0 ]; then
        printf '%s: passed, %s inputs\n' "$target" "$(sed -n 's/^stat::number_of_executed_units: *//p' <<<"$output")"
    else
        printf '%s\nFAILED: %s: see %s\n' "$output" "$target" "$findings"
    fi
    return "$status"
}

passed=0 failed=0
count() {
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}
cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
running=()
for target in "${targets[@]}"; do
    if [ ${#running[@]} -ge "$cores" ]; then
        count wait "${running[0]}"
        running=("${running[@]:1}")
    fi
    run_target "$target" &
    running+=($!)
done
for process in "${running[@]}"; do count wait "$process"; done
printf 'fuzz: %s passed, %s failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
