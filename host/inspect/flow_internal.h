/* Between flow.c and reach.c. */
#ifndef RUNG_INSPECT_FLOW_INTERNAL_H
#define RUNG_INSPECT_FLOW_INTERNAL_H

#include "inspect/flow.h"

/* Lists the definitions of every register. False when out of memory. */
bool rung_flow_index(struct rung_flow *flow);

/* Takes steps off what may still be walked; false, and the flow exhausted, when they run out. */
bool rung_flow_spend(struct rung_flow *flow, uint64_t steps);

#endif
