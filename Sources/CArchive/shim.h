#ifndef DAVIT_CARCHIVE_SHIM_H
#define DAVIT_CARCHIVE_SHIM_H
#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

/* File types of entries. libarchive defines them as macros with casts, which Swift cannot import. */
enum { davit_entry_file = 0100000, davit_entry_folder = 0040000 };

/* Returns a locale with the character set UTF-8, or null if the system has none. Only its character set matters. */
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

/* Writes the header of an entry. libarchive writes names unmodified, and flags them as UTF-8 if that is the character
   set of the thread's locale. If `locale` is null, the locale of the thread is not changed. */
static inline int davit_write_header(struct archive *archive, struct archive_entry *entry, void *locale) {
    if (!locale) return archive_write_header(archive, entry);
    locale_t before = uselocale((locale_t)locale);
    int status = archive_write_header(archive, entry);
    uselocale(before);
    return status;
}
#endif
