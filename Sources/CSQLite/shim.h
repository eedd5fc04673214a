#ifndef DAVIT_CSQLITE_SHIM_H
#define DAVIT_CSQLITE_SHIM_H
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Binds a copy of the bytes. SQLITE_TRANSIENT is a cast, which Swift cannot import. */
static inline int davit_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    /* Binding a null pointer would store NULL. */
    if (count == 0) { return sqlite3_bind_zeroblob(statement, index, 0); }
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

static inline int davit_bind_text(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    const char *text = count == 0 ? "" : (const char *)bytes;
    return sqlite3_bind_text64(statement, index, text, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int davit_note_log(void *pages, sqlite3 *connection, const char *database, int count) {
    (void)connection;
    (void)database;
    *(int *)pages = count;
    return SQLITE_OK;
}

/* Stores the length of the write-ahead log in `pages` after each commit. The hook replaces automatic checkpoints. */
static inline void davit_watch_log(sqlite3 *connection, int *pages) {
    sqlite3_wal_hook(connection, davit_note_log, pages);
}

static inline int davit_file_exists(const char *path) { return access(path, F_OK) == 0; }

/* Returns 0 or an error number; a missing file is not an error. */
static inline int davit_remove_file(const char *path) { return unlink(path) == 0 || errno == ENOENT ? 0 : errno; }

/* Whether nothing has the path, or an empty file. */
static inline int davit_is_missing_or_empty(const char *path) {
    struct stat status;
    if (lstat(path, &status) != 0) { return errno == ENOENT; }
    return S_ISREG(status.st_mode) && status.st_size == 0;
}

/* Renames a file when it is on the disk. Returns 0 or an error number. */
static inline int davit_publish_file(const char *path, const char *name) {
    int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) { return errno; }
    int error = fsync(descriptor) == 0 ? 0 : errno;
    close(descriptor);
    if (error != 0) { return error; }
    return rename(path, name) == 0 ? 0 : errno;
}

/* Whether a system error number means that the disk or quota is full. */
static inline int davit_is_out_of_space(int number) {
    return number == ENOSPC || number == EDQUOT;
}

/* Creates a folder that only its owner can access, unless the path exists. Returns 0 or an error number. */
static inline int davit_make_private_folder(const char *path) {
    if (mkdir(path, 0700) == 0 || errno == EEXIST) { return 0; }
    return errno;
}

/* Creates an empty file that only its owner can access, if it does not exist. Returns 0 or an error number.
   SQLite treats it as an empty database, and uses its mode for the journal files next to it. */
static inline int davit_make_private_file(const char *path) {
    int descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) { return errno; }
    close(descriptor);
    return 0;
}
#endif
