/* The part of the Driver API that the simulator exports and refuses. This file does not include
 * cuda.h: one body of no parameters serves every prototype, since the caller removes its arguments.
 */
#include <stddef.h>
#include <string.h>

#include "sim/dropin/unsupported.h"

#define NOT_SUPPORTED 801 /* CUDA_ERROR_NOT_SUPPORTED */

#define UNSUPPORTED(symbol, name, abi)                                                             \
    __attribute__((visibility("default"))) int symbol(void);                                       \
    int symbol(void)                                                                               \
    {                                                                                              \
        return NOT_SUPPORTED;                                                                      \
    }
#include "sim/dropin/unsupported.def"
#undef UNSUPPORTED

static const struct {
    const char *name;
    int abi;
    int (*function)(void);
} rows[] = {
#define UNSUPPORTED(symbol, name, abi) {#name, abi, symbol},
#include "sim/dropin/unsupported.def"
#undef UNSUPPORTED
};

void (*dropin_find_unsupported(const char *name, int version, bool *known))(void)
{
    void (*found)(void) = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].abi == 0 || strcmp(rows[i].name, name) != 0)
            continue;
        *known = true;
        if (rows[i].abi <= version)
            found = (void (*)(void))rows[i].function;
    }
    return found;
}
