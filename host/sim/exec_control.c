/* Control flow: the warp's loop branches and ends itself (warp.c); here is only what it needs. */
#include "sim/decode.h"

static void pass(struct sim_warp *warp, const struct sim_op *op)
{
    (void)warp, (void)op;
}

bool rung_sim_decode_control(struct sim_decoder *decoder)
{
    /* bra, ret, exit and trap end a segment; nanosleep is over at once, time is not simulated. */
    decoder->op->run = pass;
    if (decoder->at->opcode == RUNG_PTX_OP_NANOSLEEP)
        return rung_sim_decode_source(decoder, &decoder->op->a, &decoder->at->operands[0],
                                      RUNG_PTX_U32);
    return true;
}
