#include <stddef.h>
#include <stdint.h>

// libFuzzer as a library; the executable has the main function.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
