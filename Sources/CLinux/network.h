#ifndef DAVIT_CLINUX_NETWORK_H
#define DAVIT_CLINUX_NETWORK_H

#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* C libraries differ in which constants are enumerations; define all of them as integers. */
static const int DAVIT_SOCK_STREAM = SOCK_STREAM;
static const int DAVIT_SOCK_DGRAM = SOCK_DGRAM;
static const int DAVIT_SOCK_FLAGS = SOCK_NONBLOCK | SOCK_CLOEXEC;
static const int DAVIT_SOCK_CLOEXEC = SOCK_CLOEXEC;
static const int DAVIT_SHUT_WR = SHUT_WR;
static const int DAVIT_SHUT_RDWR = SHUT_RDWR;
static const int DAVIT_MSG_NOSIGNAL = MSG_NOSIGNAL;
static const int DAVIT_MSG_MORE = MSG_MORE;
static const int DAVIT_MSG_PEEK = MSG_PEEK;
static const int DAVIT_IPPROTO_TCP = IPPROTO_TCP;
static const int DAVIT_IPPROTO_IPV6 = IPPROTO_IPV6;
static const unsigned DAVIT_EPOLL_STREAM = EPOLLIN | EPOLLOUT | EPOLLRDHUP | (unsigned)EPOLLET;
static const unsigned DAVIT_EPOLL_NOTICE = EPOLLIN | (unsigned)EPOLLET;
static const unsigned DAVIT_EPOLL_LEVEL = EPOLLIN;
static const unsigned DAVIT_EPOLL_READABLE = EPOLLIN;
static const unsigned DAVIT_EPOLL_WRITABLE = EPOLLOUT;
static const unsigned DAVIT_EPOLL_ENDED = EPOLLRDHUP;
static const unsigned DAVIT_EPOLL_BROKEN = EPOLLERR | EPOLLHUP;

/* Declared by libc only with _GNU_SOURCE. */
int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags);
int pthread_setname_np(pthread_t thread, const char *name);
ssize_t preadv2(int descriptor, const struct iovec *pieces, int count, off_t offset, int flags);
ssize_t readahead(int descriptor, off_t offset, size_t count);

/* Returns free heap pages to the system. Only glibc has a function for this. */
static inline void davit_return_free_heap(void) {
#ifdef __GLIBC__
    extern int malloc_trim(size_t kept);
    malloc_trim(0);
#endif
}

/* Keeps large blocks out of the arenas of glibc, at fixed sizes. By default, glibc raises both thresholds to the
   size of the largest block freed so far, up to 32 MiB: large blocks of many threads then share arenas with
   small ones, which keep their pages from being returned. */
static inline void davit_fix_heap_thresholds(int mapped, int trimmed) {
#ifdef __GLIBC__
    extern int mallopt(int parameter, int value);
    mallopt(-3 /* M_MMAP_THRESHOLD */, mapped);
    mallopt(-1 /* M_TRIM_THRESHOLD */, trimmed);
#endif
}

/* The type of RLIMIT_NOFILE depends on the C library. */
static inline int davit_get_descriptor_limit(struct rlimit *limit) {
    return getrlimit(RLIMIT_NOFILE, limit);
}
static inline int davit_set_descriptor_limit(const struct rlimit *limit) {
    return setrlimit(RLIMIT_NOFILE, limit);
}

/* Starts a detached thread. Returns 0 or an error number. */
static inline int davit_start_thread(void *(*start)(void *), void *context) {
    pthread_t thread;
    int code = pthread_create(&thread, NULL, start, context);
    if (code == 0) pthread_detach(thread);
    return code;
}

/* Sets the nice value of the calling thread. On Linux, setpriority(2) affects a single thread. */
static inline void davit_set_nice_value(int value) {
    setpriority(PRIO_PROCESS, 0, value);
}

/* Returns the number of bytes that the peer has not acknowledged yet, or -1. */
static inline int davit_outstanding_bytes(int descriptor) {
    int value = 0;
    return ioctl(descriptor, SIOCOUTQ, &value) == 0 ? value : -1;
}

/* Returns the number of bytes that can be read without blocking, or -1. */
static inline int davit_readable_bytes(int descriptor) {
    int value = 0;
    return ioctl(descriptor, FIONREAD, &value) == 0 ? value : -1;
}

/* Returns the user ID that connected to a Unix domain socket, or -1. struct ucred requires _GNU_SOURCE. */
static inline long long davit_peer_user(int descriptor) {
    struct { int process; unsigned user, group; } peer;
    socklen_t length = sizeof peer;
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? (long long)peer.user : -1;
}

/* Returns a non-blocking socket that becomes readable when interfaces or their addresses change, or -1. */
static inline int davit_watch_interfaces(void) {
    int number = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (number < 0) return -1;
    struct sockaddr_nl groups = {.nl_family = AF_NETLINK};
    groups.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
    if (bind(number, (const struct sockaddr *)&groups, sizeof groups) == 0) return number;
    int code = errno;
    close(number);
    errno = code;
    return -1;
}

/* Returns a non-blocking datagram socket that is bound to a multicast group and receives what arrives for it on one interface, or
   -1. */
static inline int davit_multicast_receiver(const struct sockaddr *group, socklen_t length, unsigned interface) {
    int is6 = group->sa_family == AF_INET6, one = 1, zero = 0, ok;
    int number = socket(group->sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (number < 0) return -1;
    ok = setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0;
    if (is6) {
        struct ipv6_mreq request = {((const struct sockaddr_in6 *)(const void *)group)->sin6_addr, interface};
        /* IPV6_MULTICAST_ALL, since Linux 4.20: without it, groups that other sockets have joined are received too. */
        setsockopt(number, IPPROTO_IPV6, 29, &zero, sizeof zero);
        ok = ok && setsockopt(number, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one) == 0 &&
             setsockopt(number, IPPROTO_IPV6, IPV6_JOIN_GROUP, &request, sizeof request) == 0;
    } else {
        /* struct ip_mreqn */
        struct { struct in_addr group, address; int interface; } request = {
            ((const struct sockaddr_in *)(const void *)group)->sin_addr, {0}, (int)interface};
        setsockopt(number, IPPROTO_IP, 49 /* IP_MULTICAST_ALL */, &zero, sizeof zero);
        ok = ok && setsockopt(number, IPPROTO_IP, 35 /* IP_ADD_MEMBERSHIP */, &request, sizeof request) == 0;
    }
    if (ok && bind(number, group, length) == 0) return number;
    int code = errno;
    close(number);
    errno = code;
    return -1;
}

/* Returns a non-blocking datagram socket that sends from an address of an interface, also to multicast groups in the same network, or
   -1. */
static inline int davit_multicast_sender(const struct sockaddr *own, socklen_t length, unsigned interface) {
    int is6 = own->sa_family == AF_INET6, one = 1, ok;
    int number = socket(own->sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (number < 0) return -1;
    ok = setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0;
    if (is6) {
        int index = (int)interface;
        ok = ok && setsockopt(number, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one) == 0 &&
             setsockopt(number, IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, sizeof index) == 0 &&
             setsockopt(number, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &one, sizeof one) == 0;
    } else {
        /* struct ip_mreqn */
        struct { struct in_addr group, address; int interface; } request = {{0}, {0}, (int)interface};
        ok = ok && setsockopt(number, IPPROTO_IP, 32 /* IP_MULTICAST_IF */, &request, sizeof request) == 0 &&
             setsockopt(number, IPPROTO_IP, 33 /* IP_MULTICAST_TTL */, &one, sizeof one) == 0;
    }
    if (ok && bind(number, own, length) == 0) return number;
    int code = errno;
    close(number);
    errno = code;
    return -1;
}

static inline ssize_t davit_receive_datagram(int number, void *buffer, size_t count, struct sockaddr_storage *source) {
    socklen_t length = sizeof *source;
    return recvfrom(number, buffer, count, 0, (struct sockaddr *)(void *)source, &length);
}

/* Reads cached data only (RWF_NOWAIT); fails with EAGAIN if the read would wait for the disk. */
static inline ssize_t davit_pread_nowait(int descriptor, void *buffer, size_t count, off_t offset) {
    struct iovec piece = {buffer, count};
    return preadv2(descriptor, &piece, 1, offset, 0x00000008);
}

/* Whether the file system is stored in memory: tmpfs or ramfs. */
static inline int davit_is_in_memory(int descriptor) {
    struct statfs volume;
    if (fstatfs(descriptor, &volume) != 0) return 0;
    return volume.f_type == 0x01021994 || (unsigned)volume.f_type == 0x858458f6u;
}

/* Whether the file system is local, so that only this kernel changes its files. False for unlisted file systems. */
static inline int davit_is_local(int descriptor) {
    static const unsigned known[] = {
        0x01021994u, 0x858458f6u, /* tmpfs, ramfs */
        0x0000ef53u, 0x58465342u, /* ext2 to ext4, XFS */
        0x9123683eu, 0xf2f52010u, /* Btrfs, F2FS */
        0xca451a4eu, 0x2fc12fc1u, /* bcachefs, ZFS */
        0x794c7630u,              /* overlayfs */
    };
    struct statfs volume;
    if (fstatfs(descriptor, &volume) != 0) return 0;
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if ((unsigned)volume.f_type == known[i]) return 1;
    return 0;
}

#endif
