/* What the compiler made of a modulo, beside what it cost: for rows that were measured. */
#ifndef RUNG_CLI_MODULO_H
#define RUNG_CLI_MODULO_H

#include <stdio.h>

#include "bench/row.h"
#include "cli/output.h"
#include "image/image.h"

/* Notes in `extra` of each row, as "modulo", what the PTX that was loaded says: "mask x8",
 * "divide", ... Rows whose image cannot be had again go without. */
void rung_modulo_note(struct rung_row *rows, size_t n_rows, const struct rung_image_source *images,
                      unsigned target);

/* A table of the rows of versions that have a modulo, where they are compiled in more than one way:
 * verdict, time, and the time against the least of the same version, block, operation, type and n.
 * The simulator's counts would mislead here: to it a division is one instruction. Nothing is
 * printed otherwise. */
enum rung_status rung_modulo_print(const struct rung_row *rows, size_t n_rows,
                                   enum rung_format format, FILE *to, struct rung_error *err);

#endif
