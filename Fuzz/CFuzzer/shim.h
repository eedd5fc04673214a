#include <stddef.h>
#include <stdint.h>

// The entry point of libFuzzer as a library; the executable defines main.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
