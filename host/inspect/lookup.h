/* The truth table of a three-input logic operation: LOP3 of SASS, lop3.b32 of PTX. Bit
 * (a << 2 | b << 1 | c) of it is the result. */
#ifndef RUNG_INSPECT_LOOKUP_H
#define RUNG_INSPECT_LOOKUP_H

#include "inspect/code.h"

/* Makes `instruction` an AND or a NOT where `table` is one, of the sources that it really uses:
 * 0xc0 is a & b, 0x30 is a & ~b, 0x33 is ~b. Also 0xf8, (a & b) | c, where only a & b is kept.
 * Any other table leaves all as it was. */
void rung_lookup_read(struct rung_code_instruction *instruction, struct rung_code_source *sources,
                      uint32_t *n_sources, uint8_t table);

#endif
