/* Races and unwritten reads, access by access. */
#include <string.h>

#include "sim/check.h"

/* What one instruction did wrong, over its lanes. */
struct verdict {
    uint32_t race, unwritten;
    unsigned other_line;
    const char *what;
};

static bool conflicts(const struct sim_check *check, const struct sim_warp *warp, uint32_t lane,
                      const struct sim_mark *before, const struct sim_mark *now)
{
    return before->line && before->bytes & now->bytes && !(before->strong && now->strong) &&
           !(before->thread == now->thread && before->block == now->block) &&
           !rung_sim_check_ordered(check, warp, lane, before);
}

static void note_race(struct verdict *verdict, uint32_t lane, const struct sim_mark *before,
                      const char *what)
{
    if (!verdict->race) {
        verdict->other_line = before->line;
        verdict->what = what;
    }
    verdict->race |= 1u << lane;
}

/* Keeps the last reads of two different threads. */
static void keep_read(struct sim_shadow *shadow, const struct sim_mark *now)
{
    struct sim_mark *reads = shadow->reads;
    if (reads[0].line && (reads[0].thread != now->thread || reads[0].block != now->block))
        reads[1] = reads[0];
    reads[0] = *now;
}

static void check_word(struct verdict *verdict, struct sim_warp *warp, uint32_t lane,
                       struct sim_shadow *shadow, const struct sim_mark *now, bool writes,
                       uint32_t value)
{
    const struct sim_check *check = warp->block->worker->check;
    /* Two that write the same leave the same, whoever comes last. */
    bool same =
        writes && !now->strong && shadow->value == value && shadow->write.bytes == now->bytes;
    if (!same && conflicts(check, warp, lane, &shadow->write, now))
        note_race(verdict, lane, &shadow->write,
                  writes ? "two threads write here and nothing orders them"
                         : "reads what another thread writes and nothing orders them");
    for (int i = 0; writes && i < 2; i++)
        if (conflicts(check, warp, lane, &shadow->reads[i], now))
            note_race(verdict, lane, &shadow->reads[i],
                      "writes what another thread reads and nothing orders them");
    if (!writes) {
        if ((shadow->written & now->bytes) != now->bytes)
            verdict->unwritten |= 1u << lane;
        keep_read(shadow, now);
        return;
    }
    shadow->written |= now->bytes;
    shadow->write = *now;
    shadow->value = value;
}

/* What a lane stores into one word of its access. */
static uint32_t stored_value(struct sim_warp *warp, const struct sim_op *op, uint32_t lane,
                             uint32_t done, uint32_t bytes)
{
    uint32_t value = 0, have = op->value_bits / 8u;
    for (uint32_t i = 0; i < bytes && op->kind != SIM_OP_ATOMIC; i++) {
        uint32_t k = (done + i) / op->width, at = (done + i) % op->width;
        const unsigned char *row = sim_row(warp, op->rows[k]);
        value |= (uint32_t)row[lane * have + at] << 8 * i;
    }
    return value;
}

static struct sim_shadow *shadow_of(struct sim_warp *warp, bool shared, uint64_t address)
{
    struct sim_check *check = warp->block->worker->check;
    struct sim_shadow *shadow =
        shared ? &check->shared[address / 4] : rung_sim_check_global(check, address);
    if (!shadow)
        warp->block->worker->dry = true;
    return shadow;
}

void rung_sim_check_access(struct sim_warp *warp, const struct sim_op *op, uint32_t bytes,
                           bool writes)
{
    struct sim_worker *worker = warp->block->worker;
    bool shared = op->source->space == RUNG_PTX_SPACE_SHARED;
    struct verdict verdict = {0};
    SIM_EACH_ACTIVE(lane, warp->active)
    {
        uint64_t address = worker->access.address[lane];
        for (uint32_t done = 0; done < bytes; done += 4) {
            uint32_t part = bytes < 4 ? bytes : 4, at = (uint32_t)(address + done) % 4;
            struct sim_shadow *shadow = shadow_of(warp, shared, address + done);
            if (!shadow)
                return;
            struct sim_mark now = {
                .clock = worker->check->now[warp->index].of[warp->index],
                .line = op->source->line,
                .block = (uint32_t)warp->block->linear,
                .thread = (uint16_t)(warp->index * SIM_LANES + lane),
                .bytes = (uint8_t)(((1u << part) - 1) << at),
                .strong = op->strong && (!shared || op->kind == SIM_OP_ATOMIC),
            };
            uint32_t value = writes ? stored_value(warp, op, lane, done, part) : 0;
            check_word(&verdict, warp, lane, shadow, &now, writes, value);
        }
    }
    if (verdict.race)
        rung_sim_report(warp, RUNG_SIM_RACE, op, verdict.other_line, verdict.race, "%s memory: %s",
                        shared ? "shared" : "global", verdict.what);
    if (verdict.unwritten && shared)
        rung_sim_report(warp, RUNG_SIM_UNINITIALISED, op, 0, verdict.unwritten,
                        "reads shared memory that nothing has written");
}
