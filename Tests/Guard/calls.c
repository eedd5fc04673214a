// Counts the system calls of a program and of its threads, by number.
//
//   calls COUNTS PRELOAD PROGRAM [ARGUMENT...]   runs PROGRAM with LD_PRELOAD=PRELOAD
//   calls --probe                                 exits with 0 if tracing is permitted
//
// COUNTS is a file of 8-byte numbers that the guard also maps: the process ID, and then one number for each system call. A call
// is counted when it begins; calls that only wake a thread are not counted. The exit status is that of the program.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NUMBERS = 1024 };

static void fail(const char *what) {
    fprintf(stderr, "calls: %s: %s\n", what, strerror(errno));
    exit(125);
}

static uint64_t *map(const char *path) {
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) fail(path);
    void *mapped = mmap(NULL, NUMBERS * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) fail("mmap");
    close(file);
    return mapped;
}

// Starts the program, traced and stopped.
static pid_t start(char **program, const char *preload) {
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(125);
        raise(SIGSTOP);
        if (preload) setenv("LD_PRELOAD", preload, 1);
        execvp(program[0], program);
        fail(program[0]);
    }
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) fail("cannot trace the program");
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK
                   | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, child, 0, options) != 0) fail("PTRACE_SETOPTIONS");
    return child;
}

// Returns whether the descriptor is an eventfd or similar. A write to it wakes a thread; whether this is necessary depends on
// scheduling.
static int is_waker(pid_t thread, uint64_t descriptor) {
    char link[64], target[16];
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)thread, (int)descriptor);
    ssize_t length = readlink(link, target, sizeof target);
    return length >= 11 && memcmp(target, "anon_inode:", 11) == 0;
}

// Counts the system call of a stopped thread. Returns false if the kernel cannot report it.
static int count(pid_t thread, uint64_t *counts) {
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) < 0) return errno == ESRCH;
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY || info.entry.nr >= NUMBERS - 1) return 1;
    if (info.entry.nr == SYS_write && is_waker(thread, info.entry.args[0])) return 1;
    __atomic_add_fetch(&counts[1 + info.entry.nr], 1, __ATOMIC_RELAXED);
    return 1;
}

static int trace(pid_t child, uint64_t *counts) {
    int result = 125, status;
    if (ptrace(PTRACE_SYSCALL, child, 0, 0) != 0) fail("PTRACE_SYSCALL");
    for (;;) {
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0 && errno == EINTR) continue;
        if (thread < 0) return result;
        if (!WIFSTOPPED(status)) {
            if (thread == child) result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        int signal = WSTOPSIG(status);
        if (signal == (SIGTRAP | 0x80)) {
            if (!count(thread, counts)) fail("PTRACE_GET_SYSCALL_INFO");
            signal = 0;
        } else if (status >> 16 != 0 || signal == SIGSTOP) {
            // The thread reports a trace event, or the initial stop of a new thread.
            signal = 0;
        }
        ptrace(PTRACE_SYSCALL, thread, 0, (long)signal);
    }
}

int main(int argument_count, char **arguments) {
    if (argument_count == 2 && strcmp(arguments[1], "--probe") == 0) {
        static uint64_t counts[NUMBERS];
        char *program[] = {"true", NULL};
        return trace(start(program, NULL), counts);
    }
    if (argument_count < 4) {
        fprintf(stderr, "usage: calls COUNTS PRELOAD PROGRAM [ARGUMENT...]\n");
        return 64;
    }
    uint64_t *counts = map(arguments[1]);
    pid_t child = start(arguments + 3, arguments[2]);
    counts[0] = (uint64_t)child;
    return trace(child, counts);
}
