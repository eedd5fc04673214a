#pragma once

#include <stddef.h>

/// A file of the control page of davit stub.
struct davit_stub_file {
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

/// Returns the number of files.
size_t davit_stub_file_count(void);

/// Returns a file; `index` must be less than the count.
struct davit_stub_file davit_stub_file_at(size_t index);
