#!/usr/bin/env bash
# Tests the parsers of network input with generated input.
#
#   fuzz.sh [SECONDS [TARGET...]]  with libFuzzer, which looks for inputs that reach new code, by default for 600 seconds per
#                                  target. Keeps these inputs in .build/fuzz-corpus for the next run.
#   fuzz.sh --grow SECONDS [TARGET...]
#                                  the same, and then copies the inputs that reach new code to Fuzz/Corpus.
#   fuzz.sh --replay N [TARGET...] without instrumentation, which is much faster to build: replays all inputs of Fuzz/Corpus,
#                                  and N mutations of them per target. SEED, by default the commit, selects the mutations.
#   fuzz.sh --self-test            tests that the replay finds planted faults.
#
# `--replay` and `--self-test` build FuzzReplay, unless DAVIT_FUZZ_REPLAY is the path of the program.
# Runs one target per core at a time. Inputs that break an invariant are in .build/fuzz-findings. The last line is
# `fuzz: N passed, M failed`.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

SWIFT=${SWIFT:-swift}
mode=fuzz
case ${1:-} in
    --replay | --grow | --self-test)
        mode=${1#--}
        shift
        ;;
esac
if [ "$mode" != self-test ]; then
    if [ "$mode" = replay ]; then extent=${1:-100000}; else extent=${1:-600}; fi
    [[ $extent =~ ^[0-9]+$ ]] || { echo "fuzz.sh: invalid number '$extent'" >&2; exit 64; }
    targets=("${@:2}")
fi
# Disable backtraces, which take seconds. libFuzzer handles traps itself, so that it can save the input.
export SWIFT_BACKTRACE=enable=no
passed=0 failed=0

case $mode in
    fuzz | grow)
        # Instrument all modules for coverage, and link libFuzzer into the executable. gold cannot link it.
        # Deterministic hashing prevents SwiftPM from compiling everything again, as in test.sh.
        DAVIT_FUZZ=1 SWIFT_DETERMINISTIC_HASHING=1 "$SWIFT" build -c release --scratch-path .build/fuzz --product DavitFuzz \
            -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld || exit 1
        program=.build/fuzz/release/DavitFuzz
        ;;
    *)
        # Use make, so that the flags are those of `make build`, and its modules are used.
        [ -n "${DAVIT_FUZZ_REPLAY:-}" ] || make --no-print-directory fuzz-replay || exit 1
        program=${DAVIT_FUZZ_REPLAY:-.build/release/FuzzReplay}
        ;;
esac

# length_limit TARGET: prints the maximum length of generated inputs in bytes. The inputs are short, because splitting them at
# every byte takes time proportional to the square of the length.
length_limit() {
    if [ "$1" = xml ]; then echo 2000; else echo 600; fi
}

# fuzz_target NAME: runs a target with libFuzzer. Prints the output only if it fails.
fuzz_target() {
    local target=$1 output
    local corpus=.build/fuzz-corpus/$target findings=.build/fuzz-findings/$target
    local options=(-timeout=30 -rss_limit_mb=1024 -max_len="$(length_limit "$target")" -verbosity=0)
    mkdir -p "$corpus" "$findings"
    if ! output=$("$program" "$target" "${options[@]}" -max_total_time="$extent" -print_final_stats=1 \
        -dict="Fuzz/Dictionaries/$target" -artifact_prefix="$findings/" "$corpus" "Fuzz/Corpus/$target" 2>&1); then
        printf '%s\nFAILED: %s: see %s\n' "$output" "$target" "$findings"
        return 1
    fi
    printf '%s: passed, %s inputs\n' "$target" "$(sed -n 's/^stat::number_of_executed_units: *//p' <<<"$output")"
    if [ "$mode" = grow ]; then add_inputs "$target" "$corpus"; fi
}

# add_inputs TARGET FOLDER: copies the smallest set of inputs to Fuzz/Corpus that reaches the same code as all inputs of the
# folder. Ignores how often the code is reached, because otherwise about four times as many inputs would be selected.
add_inputs() {
    local output
    if output=$("$program" "$1" -set_cover_merge=1 -use_counters=0 -max_len="$(length_limit "$1")" \
        "Fuzz/Corpus/$1" "$2" 2>&1); then
        printf '%s: added %s inputs\n' "$1" "$(sed -n 's/^MERGE-OUTER: \([0-9]*\) new files .*/\1/p' <<<"$output")"
    else
        printf '%s\nFAILED: %s: cannot merge\n' "$output" "$1"
        return 1
    fi
}

# replay TARGET CORPUS DICTIONARY FINDINGS OPTION...: replays inputs. If this fails, copies the input that was being parsed into
# the folder FINDINGS, under the name `input-` and its checksum, and prints its path.
replay() {
    local target=$1 corpus=$2 dictionary=$3 findings=$4 current status=0 length finding
    shift 4
    mkdir -p "$findings"
    current=$findings/current-$$
    # Set the same memory limit as libFuzzer, where the system supports it, and make the order of hash tables deterministic.
    (
        ulimit -v 1048576 2>/dev/null
        SWIFT_DETERMINISTIC_HASHING=1 exec "$program" "$target" --dictionary "$dictionary" --current "$current" \
            --max-length "$(length_limit "$target")" "$@" "$corpus"
    ) || status=$?
    if [ "$status" -ne 0 ] && [ -s "$current" ]; then
        length=$((10#$(head -c 8 "$current")))
        finding=$findings/input-$(tail -c +10 "$current" | head -c "$length" | cksum | cut -d ' ' -f 1)
        tail -c +10 "$current" | head -c "$length" >"$finding"
        printf 'FAILED: %s: ended with status %s; the input is %s\n' "$target" "$status" "$finding"
    fi
    rm -f "$current"
    return "$status"
}

# replay_target NAME: prints the output only if it fails.
replay_target() {
    local target=$1 output
    if output=$(replay "$target" "Fuzz/Corpus/$target" "Fuzz/Dictionaries/$target" ".build/fuzz-findings/$target" \
        --runs "$extent" --seed "$SEED" 2>&1); then
        printf '%s: passed, %s\n' "$target" "$(sed -n "s/^$target: //p" <<<"$output")"
    else
        printf '%s\nFAILED: %s with SEED=%s\n' "$output" "$target" "$SEED"
        return 1
    fi
}

count() {
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

# run_targets COMMAND: runs a command for each target, and counts the results.
run_targets() {
    local cores target running=()
    cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
    for target in "${targets[@]}"; do
        if [ ${#running[@]} -ge "$cores" ]; then
            count wait "${running[0]}"
            running=("${running[@]:1}")
        fi
        "$1" "$target" &
        running+=($!)
    done
    for target in "${running[@]}"; do count wait "$target"; done
}

# check NAME COMMAND...: counts a command that must succeed. Prints its output only if it fails.
check() {
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        cat "$work/log"
        echo "FAILED: $name"
    fi
}

# planted FAULT SEED OPTION...: replays a planted fault, and prints the path of the input that shows it.
planted() {
    local fault=planted-$1 seed=$2
    shift 2
    replay "$fault" "$work/corpus" "$work/dictionary" "$work/$fault-$seed" --runs 100000 --seed "$seed" "$@" >"$work/output" 2>&1
    sed -n 's/^FAILED: .*; the input is //p' "$work/output"
}

# finds FAULT OPTION...: checks that a fault is found, that the saved input alone shows it, and that the same seed finds it
# again.
finds() {
    local fault=$1 input again
    shift
    input=$(planted "$fault" one "$@")
    again=$input-again
    [ -s "$input" ] || return 1
    if "$program" "planted-$fault" --timeout 1 "$input"; then return 1; fi
    mv "$input" "$again"
    input=$(planted "$fault" one "$@")
    cmp "$input" "$again"
}

differ() { [ -s "$1" ] && [ -s "$2" ] && ! cmp -s "$1" "$2"; }

self_test() {
    work=$(mktemp -d "${TMPDIR:-/tmp}/davit-fuzz.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/corpus" "$work/broken" "$work/empty"
    printf 'first, 12 and' >"$work/corpus/1"
    printf 'then 7 at last' >"$work/corpus/2"
    printf '"<planted>"\n' >"$work/dictionary"
    printf 'a <planted> fault' >"$work/broken/1"
    check "inputs without a fault pass" replay planted-none "$work/corpus" "$work/dictionary" "$work/none" --runs 100000
    check "a fault in the corpus is found" eval '! replay planted-word "$work/broken" "$work/dictionary" "$work/found"'
    check "its input is saved" eval 'cmp "$work/found"/input-* "$work/broken/1"'
    check "a corpus without inputs is an error" \
        eval 'replay planted-none "$work/empty" "$work/dictionary" "$work/none"; [ $? -eq 66 ]'
    local fault
    for fault in word splice number overflow; do check "a fault of kind '$fault' is found" finds "$fault"; done
    check "an endless loop is found" finds endless --timeout 1
    if [ "$(uname -s)" = Linux ]; then check "endless allocation is found" finds memory; fi
    check "another seed generates other inputs" differ "$(planted word one)" "$(planted word two)"
}

if [ "$mode" = self-test ]; then
    self_test
else
    # Run all targets that the program lists, so that new ones are included; each has its own corpus and dictionary.
    if [ ${#targets[@]} -eq 0 ]; then
        read -r -a targets <<<"$("$program" 2>&1 | sed -n 's/.*usage: [A-Za-z]* \([a-z|]*\) .*/\1/p' | tr '|' ' ')"
    fi
    if [ "$mode" = replay ]; then
        SEED=${SEED:-$(git rev-parse --short=12 HEAD 2>/dev/null || echo 0)}
        run_targets replay_target
    else
        run_targets fuzz_target
    fi
fi
printf 'fuzz: %s passed, %s failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
