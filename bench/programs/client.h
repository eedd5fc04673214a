// The benchmark's HTTP client: runs a script of requests on many connections and checks every response.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PATTERN_BYTES = 1 << 20, HEAD_BYTES = 16384, REQUEST_BYTES = 65536, MAX_STATUSES = 4, MAX_STEPS = 64 };

// When a step is run: once on each connection before the clock starts, repeatedly, or once on each connection at the end.
enum phase { SETUP, WORK, TEARDOWN, PHASES };

// A part of a request's text: literal bytes, or a placeholder.
struct piece {
    enum { LITERAL, UNIT, CONNECTION, TOKEN } kind;
    const char *bytes;
    size_t count;
};

// A request and its expected response.
struct step {
    int statuses[MAX_STATUSES];
    int64_t size;             // bytes of the response's body; -1: any number
    int64_t entries;          // `response` elements in the body; -1: not counted
    int64_t pattern_offset;   // offset in the pattern where the body begins; -1: not compared
    bool takes_token;         // remembers the Lock-Token field for later steps
    int64_t generated_bytes;  // length of the generated body after the text
    int64_t chunk_bytes;      // 0: not chunked
    struct piece *pieces;
    int piece_count;
    // The generated body: `block`, repeated, then `tail`.
    char *block;
    size_t block_bytes, block_repeats;
    const char *tail;
    size_t tail_bytes;
};

struct script {
    struct step steps[PHASES][MAX_STEPS];
    int counts[PHASES];
};

// The parser state of a response.
struct response {
    enum { HEAD, LENGTH, CHUNK_SIZE, CHUNK_DATA, CHUNK_END, TRAILER, COMPLETE } state;
    char head[HEAD_BYTES];
    size_t head_bytes;
    int status;
    uint64_t remaining, body_bytes, entries, chunk_size;
    bool closes, differs;
    char token[256];
    char overlap[48];  // the end of the previous piece, for elements that span two pieces
    size_t overlap_bytes;
    size_t line_bytes;
};

extern char pattern[PATTERN_BYTES];

void read_script(const char *path, struct script *script);
void read_pattern(const char *path);

void response_begin(struct response *response);
// Processes received bytes; returns how many of them belong to this response.
size_t response_take(struct response *response, const struct step *step, const char *bytes, size_t count);
// Returns how the response differs from what the step expects; NULL if it does not.
const char *response_fault(const struct response *response, const struct step *step);

_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
