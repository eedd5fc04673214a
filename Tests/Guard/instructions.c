// Lets the guard control callgrind from inside the counted program. This library is loaded before libc with LD_PRELOAD.
//
// A thread waits on the socket DAVIT_GUARD_CONTROL. Each byte that arrives is a command, and is sent back after the command has
// been executed. This requires neither ptrace, as vgdb does, nor a signal, which would interrupt the event loop.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

// The headers of Debian 12 lack this number. It is the same on all architectures.
#define LISTXATTRAT 465

static void *control(void *socket) {
    int file = (int)(ptrdiff_t)socket;
    char command;
    while (read(file, &command, 1) == 1) {
        switch (command) {
        case 'i': CALLGRIND_START_INSTRUMENTATION; break;
        case 'd': CALLGRIND_DUMP_STATS; break;
        }
        if (write(file, &command, 1) != 1) break;
    }
    return NULL;
}

__attribute__((constructor)) static void start_control(void) {
    const char *socket = getenv("DAVIT_GUARD_CONTROL");
    pthread_t thread;
    if (socket) pthread_create(&thread, NULL, control, (void *)(ptrdiff_t)atoi(socket));
}

// Reports one processor, or as many as DAVIT_GUARD_PROCESSORS, so that the server has as many event loops, and the same
// number of threads on each machine.
long sysconf(int name) {
    static long (*original)(int name);
    const char *processors = getenv("DAVIT_GUARD_PROCESSORS");
    if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) return processors ? atoi(processors) : 1;
    if (!original) original = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    return original(name);
}

// Valgrind 3.19 supports neither openat2 nor listxattrat, so davit would use the code path for old kernels. The folders of the
// guard contain no links, so openat finds the same files.
static long open_without_links(int directory, const char *path, const struct open_how *how) {
    int file = openat(directory, path, (int)how->flags, (mode_t)how->mode);
    // On a volume in memory, a missing name is not in the cache, so the kernel would return EAGAIN.
    if (file < 0 && errno == ENOENT && (how->resolve & RESOLVE_CACHED)) errno = EAGAIN;
    return file;
}

static long list_attributes(int directory, const char *path) {
    char name[4200];
    snprintf(name, sizeof name, "/proc/self/fd/%d/%s", directory, path);
    return llistxattr(name, NULL, 0);
}

long syscall(long number, ...) {
    static long (*original)(long number, ...);
    va_list arguments;
    va_start(arguments, number);
    long a = va_arg(arguments, long), b = va_arg(arguments, long), c = va_arg(arguments, long);
    long d = va_arg(arguments, long), e = va_arg(arguments, long), f = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_openat2) return open_without_links((int)a, (const char *)b, (const struct open_how *)c);
    if (number == LISTXATTRAT) return list_attributes((int)a, (const char *)b);
    if (!original) original = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return original(number, a, b, c, d, e, f);
}
