#define _GNU_SOURCE
#include "Attempts.h"
#ifdef __linux__
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char text[] = "new";

static int opened(const char *path, int flags) {
    int file = open(path, flags | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    close(file);
    return 0;
}

static int reads(const char *path) {
    char byte;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t count = read(file, &byte, 1);
    close(file);
    return count < 0 ? -1 : 0;
}
static int lists(const char *path) { return opened(path, O_RDONLY | O_DIRECTORY); }
static int writes(const char *path) { return opened(path, O_WRONLY); }
static int creates(const char *path) { return opened(path, O_WRONLY | O_CREAT | O_EXCL); }
static int truncates(const char *path) { return opened(path, O_WRONLY | O_TRUNC); }
static int makes_folder(const char *path) { return mkdir(path, 0700); }
static int removes(const char *path) { return unlink(path); }
static int makes_device(const char *path) { return mknod(path, S_IFCHR | 0600, 0x103); }
static int links(const char *path) {
    char other[4096];
    snprintf(other, sizeof other, "%s.linked", path);
    return link(path, other);
}
/* Moves a file into the folder below it that is named "into". */
static int moves(const char *path) {
    char other[4096], *slash;
    strcpy(other, path);
    slash = strrchr(other, '/');
    strcpy(slash, "/into/moved");
    return rename(path, other);
}

static int executes(const char *path) { return execl(path, path, (char *)0); }
static int executes_descriptor(const char *path) {
    char *const none[] = {(char *)0};
    int file = open(path, O_RDONLY);
    return file < 0 ? -1 : (int)syscall(SYS_execveat, file, "", none, none, 0x1000);
}
static int forks(const char *unused) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    if (child > 0) waitpid(child, NULL, 0);
    return child < 0 ? -1 : 0;
}
static int clones_with_memory_flags(const char *unused) {
    struct { unsigned long long values[11]; } request;
    memset(&request, 0, sizeof request);
    request.values[4] = SIGCHLD;
    long child = syscall(435, &request, sizeof request);
    if (child == 0) _exit(0);
    return child < 0 ? -1 : 0;
}
static void *nothing(void *unused) { return unused; }
static int starts_thread(const char *unused) {
    pthread_t thread;
    int code = pthread_create(&thread, NULL, nothing, NULL);
    if (code != 0) return errno = code, -1;
    pthread_join(thread, NULL);
    return 0;
}

static int traces(const char *unused) { return (int)ptrace(PTRACE_TRACEME, 0, 0, 0); }
static int reads_memory(const char *unused) { return (int)syscall(SYS_process_vm_readv, getppid(), 0, 0, 0, 0, 0); }
static int mounts(const char *path) { return mount("none", path, "tmpfs", 0, ""); }
static int changes_root(const char *path) { return chroot(path); }
static int leaves_namespace(const char *unused) { return unshare(CLONE_NEWNS); }
static int loads_module(const char *unused) { return (int)syscall(SYS_init_module, text, 0, ""); }
static int loads_program(const char *unused) { return (int)syscall(SYS_bpf, 0, 0, 0); }
static int becomes_root(const char *unused) { return setuid(0); }
static int becomes_group(const char *unused) { return setgid(0); }
static int sets_groups(const char *unused) { return (int)syscall(SYS_setgroups, 0, 0); }
static int sets_clock(const char *unused) {
    struct timespec time = {0, 0};
    return (int)syscall(SYS_clock_settime, CLOCK_REALTIME, &time);
}
static int signals_parent(const char *unused) { return kill(getppid(), 0); }
static int signals_itself(const char *unused) { return kill(getpid(), 0); }
static int takes_keys(const char *unused) { return (int)syscall(SYS_keyctl, 0, -3, 0); }
static int makes_ring(const char *unused) {
    char parameters[120] = {0};
    return (int)syscall(425, 1, parameters);
}
static int makes_memory_file(const char *unused) { return (int)syscall(SYS_memfd_create, "a", MFD_CLOEXEC); }
static int chowns(const char *path) { return chown(path, 1, 1); }
static int changes_folder(const char *path) { return chdir(path); }

static int maps(int permissions) {
    void *memory = mmap(NULL, 4096, permissions, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? -1 : 0;
}
static int maps_memory(const char *unused) { return maps(PROT_READ | PROT_WRITE); }
static int maps_writable_code(const char *unused) { return maps(PROT_READ | PROT_WRITE | PROT_EXEC); }
static int makes_code(const char *unused) {
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? -1 : mprotect(memory, 4096, PROT_READ | PROT_EXEC);
}

static int with_address(const char *port, int (*call)(int, const struct sockaddr *, socklen_t)) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int number = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return number < 0 ? -1 : call(number, (struct sockaddr *)&address, sizeof address);
}
static int connects(const char *port) { return with_address(port, connect); }
static int binds(const char *port) { return with_address(port, bind); }
static int connects_abstract(const char *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int number = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    strcpy(address.sun_path + 1, name);
    return connect(number, (struct sockaddr *)&address, (socklen_t)(3 + strlen(name)));
}
static int makes_socket_file(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int number = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    strcpy(address.sun_path, path);
    return bind(number, (struct sockaddr *)&address, sizeof address);
}
static int opens_packets(const char *unused) { return socket(AF_PACKET, SOCK_RAW, 0) < 0 ? -1 : 0; }
static int opens_vsock(const char *unused) { return socket(40, SOCK_STREAM, 0) < 0 ? -1 : 0; }

static const struct {
    const char *name;
    int (*call)(const char *);
} attempts[] = {
    {"read", reads}, {"list", lists}, {"write", writes}, {"create", creates}, {"truncate", truncates},
    {"make-folder", makes_folder}, {"remove", removes}, {"make-device", makes_device}, {"link", links}, {"move", moves},
    {"execute", executes}, {"execute-descriptor", executes_descriptor}, {"fork", forks}, {"clone3", clones_with_memory_flags},
    {"thread", starts_thread}, {"ptrace", traces}, {"read-memory", reads_memory}, {"mount", mounts}, {"chroot", changes_root},
    {"unshare", leaves_namespace}, {"module", loads_module}, {"bpf", loads_program}, {"setuid", becomes_root},
    {"setgid", becomes_group}, {"setgroups", sets_groups}, {"set-clock", sets_clock}, {"signal-parent", signals_parent},
    {"signal-itself", signals_itself}, {"keys", takes_keys}, {"io-uring", makes_ring}, {"memory-file", makes_memory_file},
    {"chown", chowns}, {"change-folder", changes_folder}, {"map", maps_memory}, {"map-writable-code", maps_writable_code},
    {"make-code", makes_code}, {"connect", connects}, {"bind", binds}, {"connect-abstract", connects_abstract},
    {"make-socket", makes_socket_file}, {"packet-socket", opens_packets}, {"vsock", opens_vsock},
};

int davit_attempt(const char *name, const char *argument) {
    for (unsigned i = 0; i < sizeof attempts / sizeof *attempts; i++)
        if (strcmp(attempts[i].name, name) == 0) return attempts[i].call(argument) == 0 ? 0 : errno;
    return -1;
}
#else
int davit_attempt(const char *name, const char *argument) { return -1; }
#endif
