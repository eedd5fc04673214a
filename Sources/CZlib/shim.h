#ifndef DAVIT_CZLIB_SHIM_H
#define DAVIT_CZLIB_SHIM_H
/* Declares input pointers as const. */
#define ZLIB_CONST
#include <zlib.h>

/* Wrappers of macros, which Swift cannot import. */

static inline int davit_deflate_init(z_stream *stream, int level, int window_bits, int memory_level) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, memory_level, Z_DEFAULT_STRATEGY);
}

static inline int davit_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}
#endif
