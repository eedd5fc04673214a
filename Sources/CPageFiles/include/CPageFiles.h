#pragma once

#include <stddef.h>

/// A file of the browser page, as it stands in Sources/DavitPage/Files.
struct davit_page_file {
    /// Relative to that folder, with slashes.
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

/// How many files there are.
size_t davit_page_file_count(void);

/// One of them; the index is below the count.
struct davit_page_file davit_page_file_at(size_t index);
