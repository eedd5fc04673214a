// The parts of the minimal server: event loop (floor.c), methods (floor_methods.c), database (floor_store.c).
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { HEAD_BYTES = 16384, BUFFER_BYTES = 1 << 20 };

struct connection {
    int fd, source, target;  // source: the file that is sent; target: the file that is received; -1: none
    off_t offset;
    size_t left;             // bytes to send or to receive
    char head[HEAD_BYTES];
    size_t head_bytes;
    bool chunked, waits_for_room;
    // The parser state of a chunked body, and the size of the current chunk.
    enum { SIZE, DATA, DATA_END, LAST } chunk;
    size_t chunk_bytes;
};

// The header fields that the server uses; NULL if a field was not sent. The client always capitalizes the names in the same
// way.
struct fields {
    const char *content_length, *depth, *destination, *if_none_match, *range, *transfer_encoding;
};

extern int root;

// floor.c
void answer(struct connection *connection, const char *status, const char *fields, const char *body, size_t count);
void watch(struct connection *connection, bool for_room);

// floor_methods.c
void respond(struct connection *connection, const struct fields *fields, char *body, size_t count);
void send_file(struct connection *connection);
void take_body(struct connection *connection, const char *body, size_t count);

// floor_store.c: each change is one commit.
void open_database(const char *path);
void store_lock(const char *path);
void remove_lock(const char *path);
void store_properties(const char *path, const char *body);
// Returns the properties as sent; the text is valid until the next call.
const char *properties_of(const char *path);
