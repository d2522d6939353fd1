/* Results in the formats of other tools.
 *
 * nvbench: the JSON that nvbench writes, version 1.0.0 of its file format, times in seconds. Raw
 * samples go into files of little-endian float32 beside it, as nvbench's own do, so that its
 * comparison and histogram scripts read them.
 *
 * T4: the results format of Kernel Tuner and its kin (schema_version 1.0.0, times in ms). */
#ifndef RUNG_REPORT_EXPORT_H
#define RUNG_REPORT_EXPORT_H

#include "sweep/results.h"

/* `path` is where the caller will write the object: sample files go into PATH-bin/. NULL: none are
 * written, and the summaries alone stand in the object. Rows that failed are skipped states, with
 * their reason. The caller releases `*out`. */
enum rung_status rung_export_nvbench(json_t **out, const struct rung_results *results,
                                     const char *path, struct rung_error *err);

enum rung_status rung_export_t4(json_t **out, const struct rung_results *results,
                                struct rung_error *err);

#endif
