#ifndef DAVIT_SANDBOX_ATTEMPTS_H
#define DAVIT_SANDBOX_ATTEMPTS_H

/* Makes a call that a sandboxed server must not make, or that it must be able to make, by its name in the table of Attempts.c.
   Returns 0 if the call succeeded, its error number, or -1 if there is no such name.
   - argument: a path or a port, depending on the call. */
int davit_attempt(const char *name, const char *argument);

#endif
