// Parses responses (RFC 9112), as strictly as necessary to detect wrong responses.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client.h"

static size_t least(uint64_t left, uint64_t right) { return left < right ? left : right; }

void response_begin(struct response *response) {
    response->state = HEAD;
    response->head_bytes = response->overlap_bytes = response->line_bytes = 0;
    response->status = 0;
    response->remaining = response->body_bytes = response->entries = response->chunk_size = 0;
    response->closes = response->differs = false;
}

// Counts the end tags of `response` elements, with any prefix, that end at the offset `from` or later.
static uint64_t count_entries(const char *bytes, size_t count, size_t from) {
    static const char name[] = "response>";
    uint64_t entries = 0;
    const char *at = bytes, *end = bytes + count;
    while ((at = memmem(at, end - at, name, sizeof name - 1))) {
        const char *start = at;
        while (start > bytes && start[-1] != '/' && start[-1] != '<' && start[-1] != '>' && at - start < 16) start--;
        at += sizeof name - 1;
        bool closes = start - bytes >= 2 && start[-1] == '/' && start[-2] == '<';
        if (closes && (size_t)(at - bytes) > from) entries++;
    }
    return entries;
}

static void take_body(struct response *response, const struct step *step, const char *bytes, size_t count) {
    if (step->entries >= 0) {
        char joint[2 * sizeof response->overlap];
        size_t old = response->overlap_bytes, more = least(count, sizeof response->overlap);
        memcpy(joint, response->overlap, old);
        memcpy(joint + old, bytes, more);
        // End tags that end in the first bytes of this piece are found in `joint`, and the others in the piece itself.
        response->entries += count_entries(joint, old + more, old);
        if (count > more) response->entries += count_entries(bytes, count, more);
        size_t kept = least(old + more, sizeof response->overlap);
        if (count >= sizeof response->overlap) {
            kept = sizeof response->overlap;
            memcpy(response->overlap, bytes + count - kept, kept);
        } else {
            memcpy(response->overlap, joint + old + more - kept, kept);
        }
        response->overlap_bytes = kept;
    }
    if (step->pattern_offset >= 0) {
        uint64_t offset = step->pattern_offset + response->body_bytes;
        for (size_t done = 0; done < count;) {
            size_t place = (offset + done) % PATTERN_BYTES, piece = least(count - done, PATTERN_BYTES - place);
            if (memcmp(pattern + place, bytes + done, piece) != 0) response->differs = true;
            done += piece;
        }
    }
    response->body_bytes += count;
}

static const char *field(const char *head, const char *name, char *value, size_t room) {
    size_t length = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line && line[2] != '\r'; line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line + 2, name, length) != 0 || line[2 + length] != ':') continue;
        const char *start = line + 3 + length;
        start += strspn(start, " \t");
        size_t count = least(strcspn(start, "\r"), room - 1);
        memcpy(value, start, count);
        value[count] = 0;
        return value;
    }
    return NULL;
}

static void read_head(struct response *response, const struct step *step) {
    char *head = response->head, value[256];
    if (strncmp(head, "HTTP/1.1 ", 9) != 0) fail("not an HTTP response: %.60s", head);
    response->status = atoi(head + 9);
    response->closes = field(head, "Connection", value, sizeof value) && strcasecmp(value, "close") == 0;
    if (step->takes_token && field(head, "Lock-Token", value, sizeof value))
        strcpy(response->token, value);
    if (response->status == 204 || response->status == 304) {
        response->state = COMPLETE;
    } else if (field(head, "Transfer-Encoding", value, sizeof value)) {
        response->state = CHUNK_SIZE;
    } else if (field(head, "Content-Length", value, sizeof value)) {
        response->remaining = strtoull(value, NULL, 10);
        response->state = response->remaining ? LENGTH : COMPLETE;
    } else {
        fail("response %d has no length", response->status);
    }
}

// Takes bytes up to the end of the head; the head is complete if the state is no longer HEAD.
static size_t take_head(struct response *response, const struct step *step, const char *bytes, size_t count) {
    size_t old = response->head_bytes, room = HEAD_BYTES - 1 - old, more = least(count, room);
    memcpy(response->head + old, bytes, more);
    response->head[old + more] = 0;
    char *end = memmem(response->head, old + more, "\r\n\r\n", 4);
    if (!end) {
        if (more == room) fail("head longer than %d bytes", HEAD_BYTES);
        response->head_bytes += more;
        return more;
    }
    response->head_bytes = end + 4 - response->head;
    end[4] = 0;
    read_head(response, step);
    return response->head_bytes - old;
}

static void take_chunk_size(struct response *response, char byte) {
    if (byte == '\n') {
        response->remaining = response->chunk_size;
        response->state = response->chunk_size ? CHUNK_DATA : TRAILER;
        response->chunk_size = response->line_bytes = 0;
        return;
    }
    int digit = byte >= '0' && byte <= '9' ? byte - '0' : (byte | 32) >= 'a' && (byte | 32) <= 'f' ? (byte | 32) - 'a' + 10 : -1;
    if (digit >= 0) response->chunk_size = response->chunk_size * 16 + digit;
    else if (byte != '\r') fail("invalid byte %d in a chunk size", byte);
}

size_t response_take(struct response *response, const struct step *step, const char *bytes, size_t count) {
    size_t at = 0;
    while (at < count && response->state != COMPLETE) {
        switch (response->state) {
        case HEAD: at += take_head(response, step, bytes + at, count - at); break;
        case LENGTH:
        case CHUNK_DATA: {
            size_t piece = least(count - at, response->remaining);
            take_body(response, step, bytes + at, piece);
            at += piece;
            response->remaining -= piece;
            if (response->remaining == 0) response->state = response->state == LENGTH ? COMPLETE : CHUNK_END;
            break;
        }
        case CHUNK_SIZE: take_chunk_size(response, bytes[at++]); break;
        case CHUNK_END:
            if (bytes[at++] == '\n') response->state = CHUNK_SIZE;
            break;
        case TRAILER:
            // An empty line ends the trailer.
            if (bytes[at] == '\n' && response->line_bytes == 0) response->state = COMPLETE;
            else if (bytes[at] == '\n') response->line_bytes = 0;
            else if (bytes[at] != '\r') response->line_bytes++;
            at++;
            break;
        case COMPLETE: break;
        }
    }
    return at;
}

const char *response_fault(const struct response *response, const struct step *step) {
    static char text[200];
    for (int index = 0; response->status != step->statuses[index]; index++) {
        if (index + 1 < MAX_STATUSES) continue;
        snprintf(text, sizeof text, "status %d instead of %d", response->status, step->statuses[0]);
        return text;
    }
    if (step->size >= 0 && response->body_bytes != (uint64_t)step->size) {
        snprintf(text, sizeof text, "%lu bytes instead of %ld", response->body_bytes, step->size);
        return text;
    }
    if (step->entries >= 0 && response->entries != (uint64_t)step->entries) {
        snprintf(text, sizeof text, "%lu entries instead of %ld", response->entries, step->entries);
        return text;
    }
    if (response->differs) return "content differs from the stored content";
    if (step->takes_token && !response->token[0]) return "no lock token";
    return NULL;
}
