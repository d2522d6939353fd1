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
           !sim_check_ordered(check, warp, lane, before);
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
                       bool same_value)
{
    const struct sim_check *check = warp->block->worker->check;
    if (!same_value && conflicts(check, warp, lane, &shadow->write, now))
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
}

/* Two lanes of one store to one place: a race unless they write the same. */
static bool writes_same(struct sim_warp *warp, const struct sim_op *op, uint32_t lane,
                        const struct sim_shadow *shadow)
{
    uint32_t other = shadow->write.thread % SIM_LANES, have = op->value_bits / 8u;
    if (op->kind == SIM_OP_ATOMIC || shadow->write.line != op->source->line ||
        shadow->write.thread / SIM_LANES != warp->index ||
        shadow->write.block != (uint32_t)warp->block->linear)
        return false;
    for (uint32_t k = 0; k < op->vector; k++) {
        const unsigned char *row = sim_row(warp, op->rows[k]);
        if (memcmp(row + lane * have, row + other * have, op->width))
            return false;
    }
    return true;
}

static struct sim_shadow *shadow_of(struct sim_warp *warp, bool shared, uint64_t address)
{
    struct sim_check *check = warp->block->worker->check;
    struct sim_shadow *shadow =
        shared ? &check->shared[address / 4] : sim_check_global(check, address);
    if (!shadow)
        warp->block->worker->dry = true;
    return shadow;
}

void sim_check_access(struct sim_warp *warp, const struct sim_op *op, uint32_t bytes, bool writes)
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
            check_word(&verdict, warp, lane, shadow, &now, writes,
                       writes && writes_same(warp, op, lane, shadow));
        }
    }
    if (verdict.race)
        sim_report(warp, RUNG_SIM_RACE, op, verdict.other_line, verdict.race, "%s memory: %s",
                   shared ? "shared" : "global", verdict.what);
    if (verdict.unwritten && shared)
        sim_report(warp, RUNG_SIM_UNINITIALISED, op, 0, verdict.unwritten,
                   "reads shared memory that nothing has written");
}
