#!/usr/bin/env bash
# Fuzzes what reads bytes from the network: scripts/fuzz.sh [SECONDS [TARGET...]], 600 for each of all targets.
#
# New inputs go to .build/fuzz-corpus, where the next run goes on; what breaks an invariant to .build/fuzz-findings.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

seconds=${1:-600}
targets=("${@:2}")
[ ${#targets[@]} -gt 0 ] || targets=(head chunked multipart range ifheader fields)
SWIFT=${SWIFT:-swift}
scratch=.build/fuzz
# libFuzzer is to see a trap, and to keep its input.
export SWIFT_BACKTRACE=enable=no

# Coverage everywhere, libFuzzer in the executable. gold cannot link it.
DAVIT_FUZZ=1 "$SWIFT" build -c release --scratch-path "$scratch" --product DavitFuzz \
    -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld || exit 1

failed=0
for target in "${targets[@]}"; do
    corpus=.build/fuzz-corpus/$target
    findings=.build/fuzz-findings/$target
    mkdir -p "$corpus" "$findings"
    printf '\n== %s\n' "$target"
    # Short inputs: what is read byte by byte costs the square of its length.
    if ! "$scratch/release/DavitFuzz" "$target" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 -max_len=600 \
        -print_final_stats=1 -dict="Fuzz/Dictionaries/$target" -artifact_prefix="$findings/" "$corpus" "Fuzz/Seeds/$target"
    then
        echo "$target: see $findings"
        failed=$((failed + 1))
    fi
done
printf '\nfuzz: %s passed, %s failed\n' "$((${#targets[@]} - failed))" "$failed"
[ "$failed" -eq 0 ]
