/* `--where EXPR`: which cells of a product of axes are wanted. "block <= 512 || version >= 3".
 *
 *   expr       = and { "||" and }
 *   and        = unary { "&&" unary }
 *   unary      = "!" unary | "(" expr ")" | axis relation value
 *   relation   = "==" | "=" | "!=" | "<" | "<=" | ">" | ">="
 *   value      = a number as in a list of element counts (64, 16Mi, 2^24-611), a target (sm_90), or
 *                a word of the axis
 *
 * Axes that take words know only == and !=. Every name and value is checked when the text is read,
 * so that a typing error is an error and not a condition that nothing meets. */
#ifndef RUNG_SWEEP_WHERE_H
#define RUNG_SWEEP_WHERE_H

#include <stdbool.h>

#include "base/arena.h"
#include "sweep/cell.h"

struct rung_where; /* NULL accepts every cell */

/* Lives in `arena`. RUNG_USAGE shows the place and what may stand there. */
enum rung_status rung_where_parse(const struct rung_where **out, struct rung_arena *arena,
                                  const char *text, struct rung_error *err);

bool rung_where_accepts(const struct rung_where *where, const struct rung_cell *cell);

#endif
