/* The refused part of the Driver API, for cuGetProcAddress. */
#ifndef RUNG_SIM_DROPIN_UNSUPPORTED_H
#define RUNG_SIM_DROPIN_UNSUPPORTED_H

#include <stdbool.h>

/* The newest refused function of that name that is not newer than `version`; NULL if none.
 * `*known` becomes true when the name exists at any version. */
void (*dropin_find_unsupported(const char *name, int version, bool *known))(void);

#endif
