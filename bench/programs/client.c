// Runs a script against one server on many connections, and prints the measurements as JSON.
//
//   client PORT SCRIPT PATTERN CONNECTIONS SECONDS COUNT HOLD TLS
//
// Setup steps run on every connection. Then the client prints "ready" and waits for a line on standard input, which starts the
// clock, so that the caller can inspect the server in between. Work steps are repeated in order until the seconds are over, or
// `COUNT` units (0: no limit) have been started. Every started unit is completed, so that the number of units is exact. With
// HOLD, the connections stay open until the end of standard input. With TLS, they are encrypted (TLS 1.3, AES-128-GCM, X25519),
// each with a separate handshake. After a wrong response, the client exits with status 2.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "client.h"

enum { RECEIVE_BYTES = 1 << 18, SEGMENT_BYTES = 1460, BATCH = 64, FROM_ONE_ADDRESS = 200 };

struct connection {
    int fd, number, step;
    SSL *tls;
    bool waits_to_write;
    uint64_t unit;
    char text[REQUEST_BYTES];
    size_t text_bytes, text_sent;
    size_t blocks_sent, block_sent, tail_sent;
    double started;
    bool answered, is_reused;
    char token[256];
    struct response response;
};

static struct script script;
static enum phase phase;
static struct sockaddr_in server = {.sin_family = AF_INET};
static SSL_CTX *tls_context;
static int poller;
static int active;
static uint64_t units, unit_limit, received, reopened;
static double deadline;
static struct samples { float *values; size_t count, room; } totals, firsts;
static char scratch[RECEIVE_BYTES];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void sample(struct samples *samples, double value) {
    if (phase != WORK) return;
    if (samples->count == samples->room) {
        samples->room = samples->room ? 2 * samples->room : 65536;
        samples->values = realloc(samples->values, samples->room * sizeof *samples->values);
    }
    samples->values[samples->count++] = value;
}

static void open_connection(struct connection *connection) {
    // Limit segments to the size of those in a network, because loopback uses segments of 64 KiB.
    int one = 1, segment = SEGMENT_BYTES;
    connection->fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(connection->fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment);
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    // Servers may treat many connections from one address as an attack, and the ports of closed connections remain in use for
    // a minute, so use several loopback addresses.
    struct sockaddr_in source = {.sin_family = AF_INET};
    source.sin_addr.s_addr = htonl(INADDR_LOOPBACK + connection->number / FROM_ONE_ADDRESS);
    if (bind(connection->fd, (struct sockaddr *)&source, sizeof source) < 0) fail("bind: %s", strerror(errno));
    if (connect(connection->fd, (struct sockaddr *)&server, sizeof server) < 0) fail("connect: %s", strerror(errno));
    if (tls_context) {
        connection->tls = SSL_new(tls_context);
        SSL_set_fd(connection->tls, connection->fd);
        if (SSL_connect(connection->tls) != 1) fail("TLS handshake failed");
    }
    fcntl(connection->fd, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    epoll_ctl(poller, EPOLL_CTL_ADD, connection->fd, &event);
    connection->waits_to_write = connection->is_reused = false;
}

static void reopen(struct connection *connection) {
    reopened += phase == WORK;
    SSL_free(connection->tls);
    connection->tls = NULL;
    close(connection->fd);
    open_connection(connection);
}

// Converts the result of a TLS call to that of recv or send.
static ssize_t outcome(struct connection *connection, int count) {
    if (count > 0) return count;
    switch (SSL_get_error(connection->tls, count)) {
    case SSL_ERROR_WANT_READ: case SSL_ERROR_WANT_WRITE: errno = EAGAIN; return -1;
    case SSL_ERROR_ZERO_RETURN: return 0;
    default: errno = ECONNRESET; return -1;
    }
}

static ssize_t receive_bytes(struct connection *connection, char *bytes, size_t room) {
    if (!connection->tls) return recv(connection->fd, bytes, room, 0);
    return outcome(connection, SSL_read(connection->tls, bytes, room));
}

static ssize_t send_bytes(struct connection *connection, const char *bytes, size_t count) {
    if (!connection->tls) return send(connection->fd, bytes, count, MSG_NOSIGNAL);
    return outcome(connection, SSL_write(connection->tls, bytes, count));
}

static void wait_to_write(struct connection *connection, bool waits) {
    if (connection->waits_to_write == waits) return;
    connection->waits_to_write = waits;
    struct epoll_event event = {.events = EPOLLIN | (waits ? EPOLLOUT : 0), .data.ptr = connection};
    epoll_ctl(poller, EPOLL_CTL_MOD, connection->fd, &event);
}

static void send_on(struct connection *connection);

// A server may close an idle connection while a request is in transit; send the request again (RFC 9112 §9.3.1).
static void send_again(struct connection *connection, const char *call) {
    if (!connection->is_reused || connection->answered) fail("%s: the connection is closed", call);
    reopen(connection);
    connection->text_sent = connection->blocks_sent = connection->block_sent = connection->tail_sent = 0;
    send_on(connection);
}

static void write_text(struct connection *connection, const struct step *step) {
    char *at = connection->text, *end = at + REQUEST_BYTES;
    for (int index = 0; index < step->piece_count; index++) {
        const struct piece *piece = &step->pieces[index];
        if ((size_t)(end - at) < piece->count + 256) fail("request longer than %d bytes", REQUEST_BYTES);
        switch (piece->kind) {
        case LITERAL: memcpy(at, piece->bytes, piece->count); at += piece->count; break;
        // A fixed number of digits keeps Content-Length valid.
        case UNIT: at += sprintf(at, "%09lu", connection->unit); break;
        case CONNECTION: at += sprintf(at, "%05d", connection->number); break;
        case TOKEN: at += sprintf(at, "%s", connection->token); break;
        }
    }
    connection->text_bytes = at - connection->text;
    connection->text_sent = connection->blocks_sent = connection->block_sent = connection->tail_sent = 0;
}

// Continues sending from `*sent`. Returns false if the socket is full or was closed.
static bool send_some(struct connection *connection, const char *bytes, size_t count, size_t *sent) {
    while (*sent < count) {
        ssize_t done = send_bytes(connection, bytes + *sent, count - *sent);
        if (done < 0 && errno == EAGAIN) { wait_to_write(connection, true); return false; }
        if (done < 0) { send_again(connection, "send"); return false; }
        *sent += done;
    }
    return true;
}

static void send_on(struct connection *connection) {
    const struct step *step = &script.steps[phase][connection->step];
    if (!send_some(connection, connection->text, connection->text_bytes, &connection->text_sent)) return;
    for (; connection->blocks_sent < step->block_repeats; connection->blocks_sent++, connection->block_sent = 0)
        if (!send_some(connection, step->block, step->block_bytes, &connection->block_sent)) return;
    if (!send_some(connection, step->tail, step->tail_bytes, &connection->tail_sent)) return;
    wait_to_write(connection, false);
}

// Starts the next step, or ends this phase for the connection.
static void next_step(struct connection *connection, bool first) {
    connection->step = first ? 0 : connection->step + 1;
    if (connection->step == script.counts[phase]) connection->step = 0;
    if (connection->step == 0) {
        bool over = phase == WORK ? now() >= deadline || (unit_limit && units >= unit_limit) : !first;
        if (over || script.counts[phase] == 0) { active--; return; }
        if (phase == WORK) connection->unit = units++;
    }
    write_text(connection, &script.steps[phase][connection->step]);
    response_begin(&connection->response);
    connection->answered = false;
    connection->started = now();
    send_on(connection);
}

// Processes the data of one read call. Returns false if no data is available, or if the response is complete.
static bool take_some(struct connection *connection) {
    const struct step *step = &script.steps[phase][connection->step];
    struct response *response = &connection->response;
    ssize_t count = receive_bytes(connection, scratch, sizeof scratch);
    if (count < 0 && errno == EAGAIN) return false;
    if (count <= 0) {
        send_again(connection, "recv");
        return false;
    }
    if (!connection->answered) sample(&firsts, now() - connection->started);
    connection->answered = true;
    received += count;
    size_t taken = response_take(response, step, scratch, count);
    if (response->state != COMPLETE) return true;
    if (taken != (size_t)count) fail("%zd unexpected bytes after a response", count - taken);
    const char *fault = response_fault(response, step);
    if (fault) fail("%.*s: %s", (int)strcspn(connection->text, "\r"), connection->text, fault);
    sample(&totals, now() - connection->started);
    if (step->takes_token) strcpy(connection->token, response->token);
    connection->is_reused = true;
    if (response->closes) reopen(connection);
    next_step(connection, false);
    return false;
}

// TLS returns one record at a time, and the poller does not report records that are already buffered.
static void take_answer(struct connection *connection) {
    while (take_some(connection) && connection->tls) {}
}

static void play(enum phase new_phase, struct connection **connections, int count) {
    phase = new_phase;
    active = count;
    for (int index = 0; index < count; index++) next_step(connections[index], true);
    struct epoll_event events[256];
    while (active > 0) {
        int ready = epoll_wait(poller, events, 256, 60000);
        if (ready == 0) fail("no response for 60 seconds");
        for (int index = 0; index < ready; index++) {
            struct connection *connection = events[index].data.ptr;
            if (events[index].events & EPOLLOUT) send_on(connection);
            if (events[index].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) take_answer(connection);
        }
    }
}

static int compare(const void *left, const void *right) {
    float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

static double quantile(struct samples *samples, double share) {
    return samples->count ? samples->values[(size_t)(share * (samples->count - 1))] : 0;
}

static void print_outcome(double seconds) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    qsort(totals.values, totals.count, sizeof(float), compare);
    qsort(firsts.values, firsts.count, sizeof(float), compare);
    printf("{\"units\": %lu, \"requests\": %zu, \"seconds\": %.6f, \"p50\": %.7f, \"p99\": %.7f, \"first_byte\": %.7f,"
           " \"received\": %lu, \"reopened\": %lu, \"client_cpu\": %.6f}\n",
           units, totals.count, seconds, quantile(&totals, 0.5), quantile(&totals, 0.99), quantile(&firsts, 0.5),
           received, reopened,
           usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    fflush(stdout);
}

int main(int count, char **arguments) {
    if (count != 9) fail("usage: client PORT SCRIPT PATTERN CONNECTIONS SECONDS COUNT HOLD TLS");
    if (atoi(arguments[8])) {
        tls_context = SSL_CTX_new(TLS_client_method());
        SSL_CTX_set_min_proto_version(tls_context, TLS1_3_VERSION);
        SSL_CTX_set_ciphersuites(tls_context, "TLS_AES_128_GCM_SHA256");
        SSL_CTX_set1_groups_list(tls_context, "X25519");
        SSL_CTX_set_mode(tls_context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    }
    server.sin_port = htons(atoi(arguments[1]));
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    read_pattern(arguments[3]);
    read_script(arguments[2], &script);
    int connection_count = atoi(arguments[4]);
    unit_limit = strtoull(arguments[6], NULL, 10);
    poller = epoll_create1(0);
    struct connection **connections = calloc(connection_count, sizeof *connections);
    // Connect in batches, because a server may not accept a connection until data has been sent on it.
    for (int first = 0; first < connection_count; first += BATCH) {
        int batch = connection_count - first < BATCH ? connection_count - first : BATCH;
        for (int index = first; index < first + batch; index++) {
            connections[index] = calloc(1, sizeof **connections);
            connections[index]->number = index;
            open_connection(connections[index]);
        }
        play(SETUP, connections + first, batch);
    }
    puts("ready");
    fflush(stdout);
    if (getchar() == EOF) return 0;

    received = 0;
    double started = now();
    deadline = started + atof(arguments[5]);
    play(WORK, connections, connection_count);
    print_outcome(now() - started);
    play(TEARDOWN, connections, connection_count);
    if (atoi(arguments[7])) while (getchar() != EOF) {}
    return 0;
}
