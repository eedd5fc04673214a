/* Landlock, capabilities and user IDs. The constants are those of the kernel ABI, because the kernel headers of many systems are
   older than the kernel. The numbers of the system calls are the same on all architectures that Swift supports. */
#ifndef DAVIT_CLINUX_SANDBOX_H
#define DAVIT_CLINUX_SANDBOX_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>

extern long syscall(long number, ...);

struct davit_landlock_ruleset {
    uint64_t files, network, scopes;
};

struct davit_landlock_beneath {
    uint64_t rights;
    int32_t folder;
} __attribute__((packed));

/* Returns the version of Landlock, or -1. */
static inline int davit_landlock_version(void) { return (int)syscall(444, (void *)0, (size_t)0, 1u); }

/* Returns the descriptor of a new ruleset, which is closed on exec, or -1. Versions before 4 only know files, and versions before
   6 no scopes. */
static inline int davit_landlock_create(int version, uint64_t files, uint64_t network, uint64_t scopes) {
    struct davit_landlock_ruleset rules = {files, network, scopes};
    return (int)syscall(444, &rules, version >= 6 ? sizeof rules : version >= 4 ? (size_t)16 : (size_t)8, 0u);
}

/* Grants rights to a file, or to all files below a folder. Rights that only folders can have are ignored for a file. */
static inline int davit_landlock_allow(int rules, const char *path, uint64_t rights, uint64_t of_files) {
    enum { O_PATH_ONLY = 010000000 };
    struct davit_landlock_beneath rule = {rights, open(path, O_PATH_ONLY | O_CLOEXEC | O_DIRECTORY)};
    if (rule.folder < 0) {
        rule.rights &= of_files;
        rule.folder = open(path, O_PATH_ONLY | O_CLOEXEC);
    }
    if (rule.folder < 0) return -1;
    int result = (int)syscall(445, rules, 1, &rule, 0u), code = errno;
    syscall(SYS_close, rule.folder);
    errno = code;
    return result;
}

/* Restricts the calling thread and the threads that it starts. */
static inline int davit_landlock_restrict(int rules) { return (int)syscall(446, rules, 0u); }

/* Programs that this process starts cannot gain privileges. Also a condition for the restrictions of unprivileged processes. */
static inline int davit_set_no_new_privileges(void) { return prctl(38 /* PR_SET_NO_NEW_PRIVS */, 1ul, 0ul, 0ul, 0ul); }

/* Declared by libc only with _GNU_SOURCE. */
int initgroups(const char *user, gid_t group);
int setresuid(uid_t real, uid_t effective, uid_t saved);
int setresgid(gid_t real, gid_t effective, gid_t saved);
int getresuid(uid_t *real, uid_t *effective, uid_t *saved);
int getresgid(gid_t *real, gid_t *effective, gid_t *saved);

struct davit_capabilities {
    uint32_t effective, permitted, inheritable;
};

/* Removes all capabilities of the calling thread, including those that programs would inherit. */
static inline int davit_drop_capabilities(void) {
    struct { uint32_t version; int32_t process; } head = {0x20080522 /* _LINUX_CAPABILITY_VERSION_3 */, 0};
    struct davit_capabilities none[2] = {{0, 0, 0}, {0, 0, 0}};
    /* Fails on kernels without ambient capabilities, before Linux 4.3. */
    prctl(47 /* PR_CAP_AMBIENT */, 4ul /* PR_CAP_AMBIENT_CLEAR_ALL */, 0ul, 0ul, 0ul);
    return (int)syscall(SYS_capset, &head, none);
}

/* Returns whether the calling thread has any capability, or -1. */
static inline int davit_has_capabilities(void) {
    struct { uint32_t version; int32_t process; } head = {0x20080522, 0};
    struct davit_capabilities held[2];
    if (syscall(SYS_capget, &head, held) != 0) return -1;
    return (held[0].effective | held[0].permitted | held[0].inheritable | held[1].effective | held[1].permitted |
            held[1].inheritable) != 0;
}

#endif
