// Counts the heap allocations of a program. This library is loaded before libc with LD_PRELOAD. The counts are in the file
// specified by DAVIT_GUARD_ALLOCATIONS, which the guard also maps, so that it can read them at any time.
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct counts {
    uint64_t allocations;
    uint64_t bytes;
};

// The counts until the file is mapped, because libc allocates before constructors run.
static struct counts early;
static struct counts *counts = &early;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

__attribute__((constructor)) static void map_counts(void) {
    const char *path = getenv("DAVIT_GUARD_ALLOCATIONS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *mapped = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED) counts = mapped;
}

static void note(size_t size) {
    __atomic_add_fetch(&counts->allocations, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&counts->bytes, size, __ATOMIC_RELAXED);
}

void *malloc(size_t size) {
    note(size);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    note(count * size);
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    note(size);
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    note(size);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    *memory = memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}
