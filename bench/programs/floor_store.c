// Locks and properties in SQLite, with WAL, synchronous=NORMAL, exclusive locking, and statements that are prepared once.
#define _GNU_SOURCE
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "floor.h"

static sqlite3 *database;
static sqlite3_stmt *insert_lock, *delete_lock, *insert_property, *select_properties;
static char *properties;

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK) {
        fprintf(stderr, "floor: %s\n", sqlite3_errmsg(database));
        exit(1);
    }
    return statement;
}

void open_database(const char *path) {
    sqlite3_open(path, &database);
    sqlite3_exec(database,
                 "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                 "CREATE TABLE lock (path TEXT PRIMARY KEY) WITHOUT ROWID;"
                 "CREATE TABLE property (path TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;",
                 NULL, NULL, NULL);
    insert_lock = prepare("INSERT OR REPLACE INTO lock VALUES (?1)");
    delete_lock = prepare("DELETE FROM lock WHERE path = ?1");
    insert_property = prepare("INSERT OR REPLACE INTO property VALUES (?1, ?2)");
    select_properties = prepare("SELECT value FROM property WHERE path = ?1");
}

static void run(sqlite3_stmt *statement, const char *path) {
    sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC);
    if (sqlite3_step(statement) != SQLITE_DONE) fprintf(stderr, "floor: %s\n", sqlite3_errmsg(database));
    sqlite3_reset(statement);
}

void store_lock(const char *path) { run(insert_lock, path); }

void remove_lock(const char *path) { run(delete_lock, path); }

// Stores the content of each <D:prop> unmodified.
void store_properties(const char *path, const char *body) {
    char values[HEAD_BYTES];
    size_t count = 0;
    for (const char *end; (body = strstr(body, "<D:prop>")) && (end = strstr(body, "</D:prop>")); body = end) {
        body += strlen("<D:prop>");
        memcpy(values + count, body, end - body);
        count += end - body;
    }
    sqlite3_bind_text(insert_property, 2, values, count, SQLITE_STATIC);
    run(insert_property, path);
}

const char *properties_of(const char *path) {
    free(properties);
    properties = NULL;
    sqlite3_bind_text(select_properties, 1, path, -1, SQLITE_STATIC);
    if (sqlite3_step(select_properties) == SQLITE_ROW)
        properties = strdup((const char *)sqlite3_column_text(select_properties, 0));
    sqlite3_reset(select_properties);
    return properties ? properties : "";
}
