#ifndef DAVIT_CSECCOMP_SHIM_H
#define DAVIT_CSECCOMP_SHIM_H
#ifdef __linux__
#include <errno.h>
#include <seccomp.h>

/* Swift cannot import these macros. */
static const uint32_t DAVIT_SCMP_ALLOW = SCMP_ACT_ALLOW;
static const uint32_t DAVIT_SCMP_END_PROCESS = SCMP_ACT_KILL_PROCESS;
static const uint32_t DAVIT_SCMP_NOT_PERMITTED = SCMP_ACT_ERRNO(EPERM);
static const uint32_t DAVIT_SCMP_UNKNOWN = SCMP_ACT_ERRNO(ENOSYS);
static const int DAVIT_SCMP_NO_SUCH_CALL = __NR_SCMP_ERROR;
#endif
#endif
