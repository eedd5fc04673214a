#pragma once

#include <stddef.h>

/// A file of the browser page from Sources/DavitPage/Files.
struct davit_page_file {
    /// The path relative to that folder, separated by slashes.
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

/// Returns the number of files.
size_t davit_page_file_count(void);

/// Returns a file; `index` must be less than the count.
struct davit_page_file davit_page_file_at(size_t index);
