// Parses the script written by bench/client.py: for each step a line of numbers, and then the text of the request.
//
//   PHASE STATUS,STATUS… SIZE ENTRIES PATTERN_OFFSET TAKES_TOKEN GENERATED CHUNK TEXT_BYTES\n
//   …text, in which \001n, \001c and \001t represent the unit, the connection and the lock token…
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

char pattern[PATTERN_BYTES];

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    exit(2);
}

void read_pattern(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fread(pattern, 1, PATTERN_BYTES, file) != PATTERN_BYTES) fail("cannot read %s", path);
    fclose(file);
}

static void cut_into_pieces(struct step *step, char *text, size_t count) {
    step->pieces = calloc(count + 1, sizeof *step->pieces);
    size_t start = 0;
    for (size_t at = 0; at <= count; at++) {
        if (at < count && text[at] != '\001') continue;
        if (at > start) step->pieces[step->piece_count++] = (struct piece){LITERAL, text + start, at - start};
        if (at == count) break;
        char name = text[++at];
        step->pieces[step->piece_count++].kind = name == 'n' ? UNIT : name == 'c' ? CONNECTION : TOKEN;
        start = at + 1;
    }
}

static void make_body(struct step *step) {
    if (step->generated_bytes == 0) return;
    size_t bytes = step->generated_bytes < PATTERN_BYTES ? step->generated_bytes : PATTERN_BYTES;
    size_t chunk = step->chunk_bytes ? (size_t)step->chunk_bytes : bytes;
    if (step->generated_bytes % bytes || bytes % chunk) fail("a generated body must consist of complete pieces");
    step->block = malloc(bytes + bytes / chunk * 32);
    step->block_repeats = step->generated_bytes / bytes;
    for (size_t done = 0; done < bytes; done += chunk) {
        if (step->chunk_bytes) step->block_bytes += sprintf(step->block + step->block_bytes, "%zx\r\n", chunk);
        memcpy(step->block + step->block_bytes, pattern + done, chunk);
        step->block_bytes += chunk;
        if (step->chunk_bytes) step->block_bytes += sprintf(step->block + step->block_bytes, "\r\n");
    }
    step->tail = step->chunk_bytes ? "0\r\n\r\n" : "";
    step->tail_bytes = strlen(step->tail);
}

void read_script(const char *path, struct script *script) {
    FILE *file = fopen(path, "rb");
    if (!file) fail("%s: %s", path, strerror(errno));
    int phase, takes_token;
    char statuses[64];
    size_t text_bytes;
    struct step step = {0};
    while (fscanf(file, "%d %63s %" SCNd64 " %" SCNd64 " %" SCNd64 " %d %" SCNd64 " %" SCNd64 " %zu", &phase, statuses,
                  &step.size, &step.entries, &step.pattern_offset, &takes_token, &step.generated_bytes,
                  &step.chunk_bytes, &text_bytes) == 9) {
        if (fgetc(file) != '\n' || phase < 0 || phase >= PHASES || script->counts[phase] == MAX_STEPS)
            fail("%s is not a script", path);
        step.takes_token = takes_token;
        int count = 0;
        for (char *status = strtok(statuses, ","); status && count < MAX_STATUSES; status = strtok(NULL, ","))
            step.statuses[count++] = atoi(status);
        char *text = malloc(text_bytes + 1);
        if (fread(text, 1, text_bytes, file) != text_bytes) fail("%s is truncated", path);
        cut_into_pieces(&step, text, text_bytes);
        make_body(&step);
        script->steps[phase][script->counts[phase]++] = step;
        step = (struct step){0};
    }
    if (!feof(file)) fail("%s is not a script", path);
    fclose(file);
}
