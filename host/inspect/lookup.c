/* Truth tables that matter to a mask. */
#include "inspect/lookup.h"

enum { A = 0xf0, B = 0xcc, C = 0xaa };

/* The input of which `table` is the inverse; 3 if of none. */
static unsigned inverted_input(uint8_t table)
{
    return table == (uint8_t)~A ? 0 : table == (uint8_t)~B ? 1 : table == (uint8_t)~C ? 2 : 3;
}

void rung_lookup_read(struct rung_code_instruction *instruction, struct rung_code_source *sources,
                      uint32_t *n_sources, uint8_t table)
{
    static const uint8_t inputs[3] = {A, B, C};
    unsigned inverted = inverted_input(table);
    if (inverted < 3 && inverted < *n_sources) {
        sources[0] = sources[inverted];
        *n_sources = 1;
        instruction->op = RUNG_CODE_NOT;
        return;
    }
    if (table == ((A & B) | C))
        table = A & B;
    for (unsigned first = 0; first < 3; first++)
        for (unsigned second = first + 1; second < 3 && second < *n_sources; second++)
            for (unsigned invert = 0; invert < 3; invert++) {
                uint8_t a = invert == 1 ? (uint8_t)~inputs[first] : inputs[first];
                uint8_t b = invert == 2 ? (uint8_t)~inputs[second] : inputs[second];
                if (table != (a & b))
                    continue;
                struct rung_code_source kept[2] = {sources[first], sources[second]};
                kept[0].inverted ^= invert == 1;
                kept[1].inverted ^= invert == 2;
                sources[0] = kept[0];
                sources[1] = kept[1];
                *n_sources = 2;
                instruction->op = RUNG_CODE_AND;
                return;
            }
}
