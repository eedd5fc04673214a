#ifndef DAVIT_CPQ_SHIM_H
#define DAVIT_CPQ_SHIM_H
#ifdef __linux__
// The types of the C library belong to its module; see CLinux.
#include <features.h>
#ifdef __GLIBC__
#pragma clang module import SwiftGlibc
#endif
#endif
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif
#endif
