#ifndef DAVIT_CARCHIVE_SHIM_H
#define DAVIT_CARCHIVE_SHIM_H
#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

/* File types of entries, which libarchive defines as macros with casts. */
enum { davit_entry_file = 0100000, davit_entry_folder = 0040000 };

/* Returns a locale with the UTF-8 character set, or null if the system has none. Nothing else of it is used. */
static inline void *davit_utf8_locale(void) {
    static const char *const names[] = {"C.UTF-8", "C.utf8", "en_US.UTF-8", "UTF-8"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        locale_t locale = newlocale(LC_CTYPE_MASK, names[i], (locale_t)0);
        if (locale) return (void *)locale;
    }
    return (void *)0;
}

static inline void davit_free_locale(void *locale) {
    if (locale) freelocale((locale_t)locale);
}

/* Writes a header with `locale` as the thread's locale; null keeps the current one. libarchive marks a name as UTF-8 if
   that is the character set of the thread's locale, and writes the bytes of all names unchanged. */
static inline int davit_write_header(struct archive *archive, struct archive_entry *entry, void *locale) {
    if (!locale) return archive_write_header(archive, entry);
    locale_t before = uselocale((locale_t)locale);
    int status = archive_write_header(archive, entry);
    uselocale(before);
    return status;
}
#endif
