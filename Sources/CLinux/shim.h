// Linux calls and constants that Swift cannot import directly: variadic functions and macros.
#ifndef DAVIT_CLINUX_SHIM_H
#define DAVIT_CLINUX_SHIM_H
#ifdef __linux__
// First, so that the types of the C library belong to its module. Otherwise, they belong to the module that is found first,
// which depends on the files that are compiled together, and so on the number of processors.
#include <features.h>
#ifdef __GLIBC__
#pragma clang module import SwiftGlibc
#endif
#include "clock.h"
#include "files.h"
#include "network.h"
#include "sandbox.h"
#endif
#endif
