/* atom and red: read, combine, write, one lane after the other. The blocks of a launch run on
 * several host threads, so global memory is changed by compare and exchange. */
#include <string.h>

#include "sim/decode.h"

enum operation { ADD, MIN, MAX, INC, DEC, AND, OR, XOR, EXCH, CAS, OPERATIONS };

/* What is done to one value; `type` tells signed from unsigned from float. */
static uint64_t real_sum(uint64_t old, uint64_t with, enum rung_ptx_type type)
{
    uint64_t result = 0;
    if (type == RUNG_PTX_F32) {
        float a, b;
        memcpy(&a, &old, sizeof a);
        memcpy(&b, &with, sizeof b);
        a += b;
        memcpy(&result, &a, sizeof a);
        return a == a ? result : 0x7fffffff;
    }
    double a, b;
    memcpy(&a, &old, sizeof a);
    memcpy(&b, &with, sizeof b);
    a += b;
    memcpy(&result, &a, sizeof a);
    return result;
}

static bool is_less(uint64_t a, uint64_t b, enum rung_ptx_type type)
{
    if (type == RUNG_PTX_S32)
        return (int32_t)a < (int32_t)b;
    if (type == RUNG_PTX_S64)
        return (int64_t)a < (int64_t)b;
    return a < b;
}

static uint64_t apply(enum operation operation, uint64_t old, uint64_t with, uint64_t swap,
                      enum rung_ptx_type type)
{
    switch (operation) {
    case ADD:
        return rung_ptx_type_kind(type) == RUNG_PTX_KIND_FLOAT ? real_sum(old, with, type)
                                                               : old + with;
    case MIN:
        return is_less(with, old, type) ? with : old;
    case MAX:
        return is_less(old, with, type) ? with : old;
    case INC:
        return old >= with ? 0 : old + 1;
    case DEC:
        return old == 0 || old > with ? with : old - 1;
    case AND:
        return old & with;
    case OR:
        return old | with;
    case XOR:
        return old ^ with;
    case EXCH:
        return with;
    default:
        return old == with ? swap : old;
    }
}

/* Where lanes meet on one address, their order is the lanes', or the seed's. */
static uint64_t change_32(uint32_t *at, const struct sim_op *op, uint64_t with, uint64_t swap)
{
    enum rung_ptx_type type = op->source->types[0];
    uint32_t old = __atomic_load_n(at, __ATOMIC_RELAXED), new;
    do
        new = (uint32_t)apply(op->mode, old, with, swap, type);
    while (!__atomic_compare_exchange_n(at, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return old;
}

static uint64_t change_64(uint64_t *at, const struct sim_op *op, uint64_t with, uint64_t swap)
{
    enum rung_ptx_type type = op->source->types[0];
    uint64_t old = __atomic_load_n(at, __ATOMIC_RELAXED), new;
    do
        new = apply(op->mode, old, with, swap, type);
    while (!__atomic_compare_exchange_n(at, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return old;
}

static uint64_t value_of(struct sim_warp *warp, uint32_t offset, uint32_t width, uint32_t lane)
{
    uint64_t value = 0;
    memcpy(&value, (unsigned char *)sim_row(warp, offset) + lane * width, width);
    return value;
}

static void change(struct sim_warp *warp, const struct sim_op *op)
{
    struct sim_worker *worker = warp->block->worker;
    struct sim_span span;
    bool shared = op->source->space == RUNG_PTX_SPACE_SHARED;
    uint32_t flip = worker->launch->options.seed && rung_sim_random(worker) & 1 ? 31 : 0;
    rung_sim_access_addresses(&span, warp, op);
    uint32_t active = warp->active;
    if (worker->check)
        rung_sim_check_atomic(warp, op);
    for (uint32_t i = 0; i < SIM_LANES; i++) {
        uint32_t lane = i ^ flip;
        if (!(active >> lane & 1))
            continue;
        uint64_t address = worker->access.address[lane];
        unsigned char *at = shared ? rung_sim_access_shared(warp, op, address, op->width, lane)
                                   : rung_sim_access_global(warp, op, address, op->width, lane);
        if (!at)
            return;
        uint64_t with = value_of(warp, op->b, op->width, lane);
        uint64_t swap = op->mode == CAS ? value_of(warp, op->c, op->width, lane) : 0;
        uint64_t old = op->width == 4 ? change_32((uint32_t *)(void *)at, op, with, swap)
                                      : change_64((uint64_t *)(void *)at, op, with, swap);
        if (op->d)
            memcpy((unsigned char *)sim_row(warp, op->d) + lane * op->width, &old, op->width);
    }
    if (worker->check)
        rung_sim_check_access(warp, op, op->width, true);
}

/* Types by operation, as PTX has them. */
static const struct {
    enum rung_ptx_modifier word;
    const char *types;
} operations[OPERATIONS] = {
    [ADD] = {RUNG_PTX_M_ADD,  "u32 s32 u64 s64 f32 f64"},
    [MIN] = {RUNG_PTX_M_MIN,  "u32 s32 u64 s64"        },
    [MAX] = {RUNG_PTX_M_MAX,  "u32 s32 u64 s64"        },
    [INC] = {RUNG_PTX_M_INC,  "u32"                    },
    [DEC] = {RUNG_PTX_M_DEC,  "u32"                    },
    [AND] = {RUNG_PTX_M_AND,  "b32 b64"                },
    [OR] = {RUNG_PTX_M_OR,   "b32 b64"                },
    [XOR] = {RUNG_PTX_M_XOR,  "b32 b64"                },
    [EXCH] = {RUNG_PTX_M_EXCH, "b32 b64"                },
    [CAS] = {RUNG_PTX_M_CAS,  "b32 b64"                },
};

static bool find_operation(struct sim_decoder *decoder)
{
    int found = -1;
    for (int i = 0; i < OPERATIONS; i++)
        if (sim_has(decoder, operations[i].word)) {
            if (found >= 0)
                return rung_sim_refuse(decoder, "needs one operation");
            found = i;
        }
    if (found < 0 || !strstr(operations[found].types, rung_ptx_type_word(decoder->at->types[0])))
        return rung_sim_refuse(decoder, "not with this operation and type");
    decoder->op->mode = (uint8_t)found;
    return true;
}

bool rung_sim_decode_atomic(struct sim_decoder *decoder)
{
    const struct rung_ptx_instruction *at = decoder->at;
    struct sim_op *op = decoder->op;
    bool returns = at->opcode == RUNG_PTX_OP_ATOM;
    enum rung_ptx_type type = at->types[0];
    if (at->n_types != 1 || !find_operation(decoder))
        return at->n_types == 1 ? false : rung_sim_refuse(decoder, "needs one type");
    if (at->space != RUNG_PTX_SPACE_SHARED && at->space != RUNG_PTX_SPACE_GLOBAL)
        return rung_sim_refuse(decoder, "generic addresses");
    op->run = change;
    op->kind = SIM_OP_ATOMIC;
    op->strong = true;
    op->width = (uint8_t)(rung_ptx_type_bits(type) / 8);
    op->value_bits = (uint8_t)rung_ptx_type_bits(type);
    const struct rung_ptx_operand *operands = at->operands + returns;
    uint32_t n = at->n_operands - returns;
    if (n != (op->mode == CAS ? 3u : 2u))
        return rung_sim_refuse(decoder, "another number of operands");
    if (returns && at->operands[0].kind != RUNG_PTX_SINK &&
        !rung_sim_decode_destination(decoder, &op->d, &at->operands[0], op->value_bits))
        return false;
    return rung_sim_decode_address(decoder, &operands[0]) &&
           rung_sim_decode_source(decoder, &op->b, &operands[1], type) &&
           (n < 3 || rung_sim_decode_source(decoder, &op->c, &operands[2], type));
}
