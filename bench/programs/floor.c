// A minimal server: performs only the system calls that a request needs, and responds.
//
//   floor PORT ROOT DATABASE
//
// It uses one thread and epoll, and makes no checks: no request is refused, no lock is checked, and no XML is parsed. Only the
// work remains that every server must do: reading the request, one `statx` call to validate cached content, the change itself,
// and one response; for locks and properties, also one commit to SQLite (WAL, NORMAL), which survives a crash of the process.
// The responses resemble WebDAV enough to pass the client's checks.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "floor.h"

int root;
static int poller;
static char buffer[BUFFER_BYTES];

void watch(struct connection *connection, bool for_room) {
    if (connection->waits_for_room == for_room) return;
    connection->waits_for_room = for_room;
    struct epoll_event event = {.events = for_room ? EPOLLOUT : EPOLLIN, .data.ptr = connection};
    epoll_ctl(poller, EPOLL_CTL_MOD, connection->fd, &event);
}

void answer(struct connection *connection, const char *status, const char *fields, const char *body, size_t count) {
    char head[512];
    int length = sprintf(head, "HTTP/1.1 %s\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n%s", status, fields);
    if (strncmp(status, "204", 3) != 0 && strncmp(status, "304", 3) != 0)
        length += sprintf(head + length, "Content-Length: %zu\r\n", count);
    length += sprintf(head + length, "\r\n");
    struct iovec pieces[] = {{head, length}, {(void *)body, count}};
    ssize_t sent = writev(connection->fd, pieces, count ? 2 : 1);
    // Block in poll until the rest of a large body is sent, because there is no other work to do for the client.
    for (size_t done = sent < length ? 0 : sent - length; sent >= length && done < count;) {
        ssize_t more = send(connection->fd, body + done, count - done, 0);
        if (more > 0) done += more;
        else poll(&(struct pollfd){.fd = connection->fd, .events = POLLOUT}, 1, -1);
    }
}

static void find_fields(const char *head, const char *end, struct fields *fields) {
    for (const char *line = head; line < end; line++) {
        switch (*line) {
        case 'C': if (memcmp(line, "Content-Length: ", 16) == 0) fields->content_length = line + 16; break;
        case 'D':
            if (memcmp(line, "Depth: ", 7) == 0) fields->depth = line + 7;
            if (memcmp(line, "Destination: http://", 20) == 0) fields->destination = line + 20;
            break;
        case 'I': if (memcmp(line, "If-None-Match: ", 15) == 0) fields->if_none_match = line + 15; break;
        case 'R': if (memcmp(line, "Range: bytes=", 13) == 0) fields->range = line + 13; break;
        case 'T': if (memcmp(line, "Transfer-Encoding: ", 19) == 0) fields->transfer_encoding = line + 19; break;
        }
        line = memchr(line, '\n', end + 2 - line);
    }
}

static void read_request(struct connection *connection) {
    if (connection->target >= 0) {
        ssize_t count = recv(connection->fd, buffer, sizeof buffer, 0);
        if (count > 0) take_body(connection, buffer, count);
        return;
    }
    ssize_t count = recv(connection->fd, connection->head + connection->head_bytes,
                         HEAD_BYTES - 1 - connection->head_bytes, 0);
    if (count <= 0) {
        close(connection->fd);
        free(connection);
        return;
    }
    connection->head_bytes += count;
    connection->head[connection->head_bytes] = 0;
    char *end = strstr(connection->head, "\r\n\r\n");
    if (!end) return;
    size_t body = connection->head + connection->head_bytes - (end + 4);
    // Wait here until a small body is complete; PUT reads larger ones itself.
    struct fields fields = {0};
    find_fields(connection->head, end, &fields);
    size_t length = fields.content_length ? strtoull(fields.content_length, NULL, 10) : 0;
    if (body < length && length < HEAD_BYTES / 2) return;
    connection->head_bytes = 0;
    respond(connection, &fields, end + 4, body);
}

int main(int count, char **arguments) {
    if (count != 4) return 64;
    root = open(arguments[2], O_RDONLY | O_DIRECTORY);
    open_database(arguments[3]);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[1])),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 4096) < 0) return 1;
    poller = epoll_create1(0);
    struct epoll_event waiting = {.events = EPOLLIN};
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &waiting);
    struct epoll_event events[512];
    for (;;) {
        int ready = epoll_wait(poller, events, 512, -1);
        for (int index = 0; index < ready; index++) {
            struct connection *connection = events[index].data.ptr;
            if (connection && connection->source >= 0) send_file(connection);
            else if (connection) read_request(connection);
            else {
                int client = accept4(listener, NULL, NULL, SOCK_NONBLOCK), one = 1;
                if (client < 0) continue;
                setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                connection = calloc(1, sizeof *connection);
                *connection = (struct connection){.fd = client, .source = -1, .target = -1};
                waiting.data.ptr = connection;
                epoll_ctl(poller, EPOLL_CTL_ADD, client, &waiting);
                waiting.data.ptr = NULL;
            }
        }
    }
}
