// Linux calls and constants that Swift cannot import directly: variadic functions and macros.
#ifndef DAVIT_CLINUX_SHIM_H
#define DAVIT_CLINUX_SHIM_H
#ifdef __linux__
#include "clock.h"
#include "files.h"
#include "network.h"
#include "sandbox.h"
#endif
#endif
