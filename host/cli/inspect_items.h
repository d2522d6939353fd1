/* The things to inspect, from what was typed. */
#ifndef RUNG_CLI_INSPECT_ITEMS_H
#define RUNG_CLI_INSPECT_ITEMS_H

#include "cli/inspect_rows.h"

/* Fills the items of `out`: those named, else those of the axes. RUNG_USAGE for a name that is
 * neither file nor id, for bytes that are no image, and for a configuration that cannot exist. */
enum rung_status rung_inspect_read_items(struct rung_inspect_result *out,
                                         const struct rung_inspect_request *request,
                                         struct rung_error *err);

#endif
