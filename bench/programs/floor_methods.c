// The file system calls of each method.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "floor.h"

static char listing[64 << 20];

// The cached file: its descriptor and its content, if it is short. It is valid as long as `statx` returns the same status.
static struct { char name[64]; struct statx status; int file; char content[4096]; } kept = {.file = -1};

static void keep(const char *target, const struct statx *status) {
    if (strcmp(kept.name, target) == 0 && kept.status.stx_ino == status->stx_ino &&
        kept.status.stx_size == status->stx_size && kept.status.stx_mtime.tv_sec == status->stx_mtime.tv_sec &&
        kept.status.stx_mtime.tv_nsec == status->stx_mtime.tv_nsec)
        return;
    close(kept.file);
    kept.file = openat(root, target, O_RDONLY);
    kept.status = *status;
    snprintf(kept.name, sizeof kept.name, "%s", target);
    if (pread(kept.file, kept.content, sizeof kept.content, 0) < 0) perror("floor: pread");
}

static void get(struct connection *connection, const struct fields *fields, const char *target) {
    struct statx status;
    if (statx(root, target, 0, STATX_BASIC_STATS, &status) < 0) return answer(connection, "404 Not Found", "", "", 0);
    if (fields->if_none_match) return answer(connection, "304 Not Modified", "ETag: \"1\"\r\n", "", 0);
    keep(target, &status);
    if (status.stx_size <= sizeof kept.content)
        return answer(connection, "200 OK", "ETag: \"1\"\r\n", kept.content, status.stx_size);
    off_t first = 0, last = status.stx_size - 1;
    if (fields->range) sscanf(fields->range, "%ld-%ld", &first, &last);
    char head[256];
    int length = sprintf(head, "HTTP/1.1 %s\r\nETag: \"1\"\r\nContent-Length: %ld\r\n\r\n",
                         fields->range ? "206 Partial Content" : "200 OK", last - first + 1);
    if (send(connection->fd, head, length, MSG_MORE) != length) return;
    connection->source = dup(kept.file);
    connection->offset = first;
    connection->left = last - first + 1;
    send_file(connection);
}

// Sends one window of the file at a time, so that several streams share the thread.
void send_file(struct connection *connection) {
    size_t window = connection->left < BUFFER_BYTES ? connection->left : BUFFER_BYTES;
    ssize_t sent = sendfile(connection->fd, connection->source, &connection->offset, window);
    if (sent > 0) connection->left -= sent;
    bool more = connection->left > 0 && (sent > 0 || errno == EAGAIN);
    watch(connection, more);
    if (more) return;
    close(connection->source);
    connection->source = -1;
}

static size_t entry(char *at, const char *name, const struct statx *status, const char *properties) {
    // Members with the same modification second share the formatted date.
    static time_t seconds = -1;
    static char date[40];
    if (seconds != status->stx_mtime.tv_sec) {
        struct tm parts;
        seconds = status->stx_mtime.tv_sec;
        strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&seconds, &parts));
    }
    return sprintf(at, "<D:response><D:href>/%s</D:href><D:propstat><D:prop><D:resourcetype>%s</D:resourcetype>"
                   "<D:getcontentlength>%llu</D:getcontentlength><D:getlastmodified>%s</D:getlastmodified>%s</D:prop>"
                   "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>",
                   name, S_ISDIR(status->stx_mode) ? "<D:collection/>" : "", status->stx_size, date, properties);
}

static char *list(char *at, const char *path, bool deep, bool with_properties) {
    int folder = openat(root, path, O_RDONLY | O_DIRECTORY);
    char buffer[32768];
    ssize_t count;
    while ((count = getdents64(folder, buffer, sizeof buffer)) > 0)
        for (ssize_t offset = 0; offset < count;) {
            struct dirent64 *found = (struct dirent64 *)(buffer + offset);
            offset += found->d_reclen;
            if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0) continue;
            struct statx status;
            char name[512];
            statx(folder, found->d_name, AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_SIZE | STATX_MTIME, &status);
            snprintf(name, sizeof name, "%s/%s", path, found->d_name);
            at += entry(at, name, &status, with_properties ? properties_of(name) : "");
            if (deep && S_ISDIR(status.stx_mode)) at = list(at, name, true, with_properties);
        }
    close(folder);
    return at;
}

static void propfind(struct connection *connection, const struct fields *fields, char *target, const char *body) {
    struct statx status;
    size_t length = strlen(target);
    if (length > 1 && target[length - 1] == '/') target[length - 1] = 0;
    statx(root, target, 0, STATX_BASIC_STATS, &status);
    char *at = listing + sprintf(listing, "<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\">");
    bool with_properties = strstr(body, "urn:bench");
    at += entry(at, target, &status, with_properties ? properties_of(target) : "");
    if (*fields->depth != '0') at = list(at, target, *fields->depth == 'i', with_properties);
    at += sprintf(at, "</D:multistatus>");
    answer(connection, "207 Multi-Status", "Content-Type: application/xml\r\n", listing, at - listing);
}

static void put(struct connection *connection, const struct fields *fields, const char *target, const char *body,
                size_t count) {
    size_t length = fields->content_length ? strtoull(fields->content_length, NULL, 10) : SIZE_MAX;
    // New files are created in place; existing files are replaced by a rename, so that readers never see partial
    // content.
    connection->target = openat(root, target, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (connection->target < 0) {
        connection->target = openat(root, "floor.new", O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (count < length || write(connection->target, body, count) < 0) perror("floor: PUT over");
        close(connection->target);
        renameat(root, "floor.new", root, target);
        connection->target = -1;
        return answer(connection, "204 No Content", "", "", 0);
    }
    connection->chunked = fields->transfer_encoding;
    connection->left = length;
    connection->chunk = SIZE;
    connection->chunk_bytes = 0;
    take_body(connection, body, count);
}

static void store(struct connection *connection, const char *body, size_t count) {
    if (count > 0 && write(connection->target, body, count) != (ssize_t)count) perror("floor: write");
}

// Sets `left` to 0 at the end of the last chunk.
static void store_chunks(struct connection *connection, const char *body, size_t count) {
    for (const char *at = body, *end = body + count; at < end;) {
        if (connection->chunk == DATA) {
            size_t piece = (size_t)(end - at) < connection->chunk_bytes ? (size_t)(end - at) : connection->chunk_bytes;
            store(connection, at, piece);
            at += piece;
            connection->chunk_bytes -= piece;
            if (connection->chunk_bytes == 0) connection->chunk = DATA_END;
            continue;
        }
        char byte = *at++;
        if (connection->chunk == SIZE && byte != '\n') {
            if (byte != '\r') connection->chunk_bytes = connection->chunk_bytes * 16 + (byte <= '9' ? byte - '0' : (byte | 32) - 'a' + 10);
        } else if (connection->chunk == SIZE) {
            connection->chunk = connection->chunk_bytes > 0 ? DATA : LAST;
        } else if (byte == '\n') {
            if (connection->chunk == LAST) connection->left = 0;
            connection->chunk = SIZE;
        }
    }
}

void take_body(struct connection *connection, const char *body, size_t count) {
    if (connection->chunked) {
        store_chunks(connection, body, count);
    } else {
        store(connection, body, count);
        connection->left -= count;
    }
    if (connection->left > 0) return;
    close(connection->target);
    connection->target = -1;
    answer(connection, "201 Created", "", "", 0);
}

void respond(struct connection *connection, const struct fields *fields, char *body, size_t count) {
    char method[16], target[1024], *path = target + 1;
    if (sscanf(connection->head, "%15s %1023s", method, target) != 2) return;
    if (!*path) strcpy(path, ".");
    char *slash = path + strlen(path) - 1;
    if (strcmp(method, "GET") == 0) get(connection, fields, path);
    else if (strcmp(method, "PUT") == 0) put(connection, fields, path, body, count);
    else if (strcmp(method, "PROPFIND") == 0) propfind(connection, fields, path, body);
    else if (strcmp(method, "MKCOL") == 0) {
        answer(connection, mkdirat(root, path, 0755) == 0 ? "201 Created" : "405 Method Not Allowed", "", "", 0);
    } else if (strcmp(method, "DELETE") == 0) {
        if (*slash == '/') *slash = 0;
        answer(connection, unlinkat(root, path, 0) == 0 ? "204 No Content" : "404 Not Found", "", "", 0);
    } else if (strcmp(method, "MOVE") == 0) {
        char new_path[1024];
        sscanf(strchr(fields->destination, '/') + 1, "%1023s", new_path);
        answer(connection, renameat(root, path, root, new_path) == 0 ? "201 Created" : "404 Not Found", "", "", 0);
    } else if (strcmp(method, "LOCK") == 0) {
        store_lock(path);
        answer(connection, "200 OK", "Lock-Token: <urn:uuid:floor>\r\nContent-Type: application/xml\r\n",
               "<D:prop xmlns:D=\"DAV:\"/>", 24);
    } else if (strcmp(method, "UNLOCK") == 0) {
        remove_lock(path);
        answer(connection, "204 No Content", "", "", 0);
    } else if (strcmp(method, "PROPPATCH") == 0) {
        store_properties(path, body);
        answer(connection, "207 Multi-Status", "", "<D:multistatus xmlns:D=\"DAV:\"><D:response></D:response></D:multistatus>", 71);
    } else {
        answer(connection, "501 Not Implemented", "", "", 0);
    }
}

