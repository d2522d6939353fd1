/* The simulator as a value of the driver table. */
#include "sim/sim.h"

#include <stdio.h>

void rung_driver_open_sim(struct rung_driver *out)
{
    *out = (struct rung_driver){.kind = RUNG_DRIVER_SIM};
    snprintf(out->path, sizeof out->path, "(built in)");
}
