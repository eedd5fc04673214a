// File calls that libc declares only with _GNU_SOURCE, or not at all.
#ifndef DAVIT_CLINUX_FILES_H
#define DAVIT_CLINUX_FILES_H

#include <linux/stat.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <sys/syscall.h>

extern long syscall(long number, ...);

// Values of the kernel ABI. libc defines its macros for them only with certain feature macros.
enum {
    DAVIT_O_PATH = 010000000,
    DAVIT_O_TMPFILE = 020000000,  // requires O_DIRECTORY
    // libc adds this flag on systems where a file offset is larger than a long.
    DAVIT_O_LARGEFILE = sizeof(long) == 8 ? 0 : 0100000,
    DAVIT_AT_EMPTY_PATH = 0x1000,
    DAVIT_AT_NO_AUTOMOUNT = 0x800,
    DAVIT_RESOLVE_NO_XDEV = 0x01,
    DAVIT_RESOLVE_NO_MAGICLINKS = 0x02,
    DAVIT_RESOLVE_NO_SYMLINKS = 0x04,
    DAVIT_RESOLVE_BENEATH = 0x08,
    DAVIT_RESOLVE_CACHED = 0x20,
    DAVIT_FORMAT_MASK = 0170000,  // S_IFMT and its values; two headers define them differently
    DAVIT_FORMAT_REGULAR = 0100000,
    DAVIT_FORMAT_DIRECTORY = 0040000,
    DAVIT_FORMAT_LINK = 0120000,
    DAVIT_RENAME_NOREPLACE = 1,
    DAVIT_RENAME_EXCHANGE = 2,
    DAVIT_STATX_MASK = 0x1fff,  // STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID
    DAVIT_STATX_MNT_ID = 0x1000,
    DAVIT_SEEK_DATA = 3,
    DAVIT_SEEK_HOLE = 4,
    DAVIT_SYS_OPENAT2 = 437,
    DAVIT_SYS_PIDFD_OPEN = 434,
};

struct davit_open_how {
    uint64_t flags;
    uint64_t mode;
    uint64_t resolve;
};

static inline int davit_openat2(int directory, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve) {
    struct davit_open_how how = {flags, mode, resolve};
    return (int)syscall(DAVIT_SYS_OPENAT2, directory, path, &how, sizeof how);
}

// Returns a descriptor, closed by execve, that is readable when the process has ended; -1 before Linux 5.3.
static inline int davit_pidfd_open(int process) { return (int)syscall(DAVIT_SYS_PIDFD_OPEN, process, 0u); }

static inline int davit_pipe2(int *ends, int flags) { return (int)syscall(SYS_pipe2, ends, flags); }

static inline int davit_openat(int directory, const char *path, int flags, unsigned int mode) {
    return (int)syscall(SYS_openat, directory, path, flags | DAVIT_O_LARGEFILE, mode);
}

static inline int davit_statx(int directory, const char *path, int flags, struct statx *status) {
    return (int)syscall(SYS_statx, directory, path, flags | DAVIT_AT_NO_AUTOMOUNT, DAVIT_STATX_MASK, status);
}

static inline long davit_getdents64(int directory, void *buffer, size_t capacity) {
    return syscall(SYS_getdents64, directory, buffer, capacity);
}

static inline int davit_renameat2(int from, const char *old, int to, const char *name, unsigned int flags) {
    return (int)syscall(SYS_renameat2, from, old, to, name, flags);
}

static inline int davit_syncfs(int file) { return (int)syscall(SYS_syncfs, file); }

static inline long davit_copy_file_range(int from, int to, size_t count) {
    return syscall(SYS_copy_file_range, from, (void *)0, to, (void *)0, count, 0u);
}

// Reserves space without changing the length of the file (FALLOC_FL_KEEP_SIZE).
static inline int davit_reserve_space(int file, int64_t offset, int64_t count) {
    if (sizeof(long) == 8) return (int)syscall(SYS_fallocate, file, 1, offset, count);
    // Two words for each offset, whose order depends on the system: nothing is reserved.
    return 0;
}

// Makes `to` share the blocks of the entire content of `from` (FICLONE).
static inline int davit_clone_into(int to, int from) { return (int)syscall(SYS_ioctl, to, 0x40049409ul, from); }

static inline long davit_flistxattr(int file, char *names, size_t capacity) {
    return syscall(SYS_flistxattr, file, names, capacity);
}

/* Returns the size of the list of attribute names in bytes. Requires Linux 6.13. The number of the system call is the
   same on all architectures that Swift supports. */
static inline long davit_listxattrat(int directory, const char *path) {
    return syscall(465, directory, path, 0x100 /* AT_SYMLINK_NOFOLLOW */, (char *)0, (size_t)0);
}

/* Reads an attribute of a member of a directory, without following links. Requires Linux 6.13. */
static inline long davit_getxattrat(int directory, const char *path, const char *name, void *value, uint32_t capacity) {
    struct {
        uint64_t value;
        uint32_t size;
        uint32_t flags;
    } arguments = {(uint64_t)(uintptr_t)value, capacity, 0};
    return syscall(464, directory, path, 0x100 /* AT_SYMLINK_NOFOLLOW */, name, &arguments, sizeof arguments);
}

static inline long davit_fgetxattr(int file, const char *name, void *value, size_t capacity) {
    return syscall(SYS_fgetxattr, file, name, value, capacity);
}

static inline int davit_fsetxattr(int file, const char *name, const void *value, size_t count) {
    return (int)syscall(SYS_fsetxattr, file, name, value, count, 0);
}

#endif
