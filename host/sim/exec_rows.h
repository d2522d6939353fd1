/* How a row function is written: one expression over the lanes of its sources. */
#ifndef RUNG_SIM_EXEC_ROWS_H
#define RUNG_SIM_EXEC_ROWS_H

#include "sim/decode.h"

/* D name(A x, B y, C z, E w) of rows a, b, c and rows[0]: every lane when all are active, else only
 * the active ones. A source that the instruction lacks is the row of zeros. */
#define SIM_ROW_FUNCTION4(name, D, A, B, C, E, expression)                                         \
    SIM_ROWS static void name(struct sim_warp *warp, const struct sim_op *op)                      \
    {                                                                                              \
        D *d = sim_row(warp, op->d);                                                               \
        const A *a = sim_row(warp, op->a);                                                         \
        const B *b = sim_row(warp, op->b);                                                         \
        const C *c = sim_row(warp, op->c);                                                         \
        const E *e = sim_row(warp, op->rows[0]);                                                   \
        const uint32_t *lanes = warp->lanes;                                                       \
        if (warp->active == SIM_ALL) {                                                             \
            SIM_EACH_LANE(i)                                                                       \
            {                                                                                      \
                A x = a[i];                                                                        \
                B y = b[i];                                                                        \
                C z = c[i];                                                                        \
                E w = e[i];                                                                        \
                (void)y, (void)z, (void)w;                                                         \
                d[i] = (D)(expression);                                                            \
            }                                                                                      \
        } else {                                                                                   \
            SIM_EACH_LANE(i)                                                                       \
            {                                                                                      \
                A x = a[i];                                                                        \
                B y = b[i];                                                                        \
                C z = c[i];                                                                        \
                E w = e[i];                                                                        \
                (void)y, (void)z, (void)w;                                                         \
                D value = (D)(expression);                                                         \
                d[i] = lanes[i] ? value : d[i];                                                    \
            }                                                                                      \
        }                                                                                          \
    }

/* All sources of one type. */
#define SIM_ROW_FUNCTION(name, D, S, expression)                                                   \
    SIM_ROW_FUNCTION4(name, D, S, S, S, uint32_t, expression)

/* The active lanes of a mask take new bits. */
static inline void sim_mask_set(struct sim_warp *warp, uint32_t offset, uint32_t bits)
{
    uint32_t *mask = sim_mask(warp, offset);
    *mask = (*mask & ~warp->active) | (bits & warp->active);
}

#endif
