/* The clock of the kernel. */
#ifndef DAVIT_CLINUX_CLOCK_H
#define DAVIT_CLINUX_CLOCK_H

#include <sys/timex.h>

/* Whether a time service synchronizes the clock: 1, 0, or -1 if this is not known, for example in a sandbox. Changes nothing. */
static inline int davit_clock_is_synchronized(void) {
    struct timex state = {0};
    return adjtimex(&state) < 0 ? -1 : !(state.status & STA_UNSYNC);
}

#endif
