/* The detectors' memory and the order between threads. */
#include "sim/check.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_WORDS 1024

struct sim_page {
    uint64_t address; /* of its first byte; 0: free */
    struct sim_shadow *words;
};

struct sim_check *rung_sim_check_make(const struct rung_sim_launch *launch)
{
    struct sim_check *check = calloc(1, sizeof *check);
    if (!check)
        return NULL;
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    check->n_warps = (threads + SIM_LANES - 1) / SIM_LANES;
    check->n_blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    check->shared_words = (RUNG_SIM_SHARED_OPTIN + 3) / 4;
    check->lanes = calloc(check->n_warps, sizeof *check->lanes);
    check->shared = calloc(check->shared_words, sizeof *check->shared);
    check->published = calloc(check->n_blocks, sizeof *check->published);
    if (check->lanes && check->shared && check->published)
        return check;
    rung_sim_check_free(check);
    return NULL;
}

void rung_sim_check_free(struct sim_check *check)
{
    if (!check)
        return;
    for (uint64_t i = 0; check->published && i < check->n_blocks; i++)
        free(check->published[i]);
    for (size_t i = 0; i < check->room; i++)
        free(check->pages[i].words);
    free(check->pages);
    free(check->published);
    free(check->shared);
    free(check->lanes);
    free(check);
}

void rung_sim_check_block(struct sim_block *block)
{
    struct sim_check *check = block->worker->check;
    memset(check->now, 0, sizeof check->now);
    memset(check->fenced, 0, sizeof check->fenced);
    memset(check->barriers, 0, sizeof check->barriers);
    memset(check->lanes, 0, check->n_warps * sizeof *check->lanes);
    memset(check->shared, 0, (block->shared_bytes + 3) / 4 * sizeof *check->shared);
    for (uint32_t w = 0; w < check->n_warps; w++)
        check->now[w].of[w] = 1;
}

static size_t slot_of(const struct sim_page *pages, size_t room, uint64_t address)
{
    size_t at = (size_t)(address / (PAGE_WORDS * 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
    for (at &= room - 1; pages[at].address && pages[at].address != address;
         at = (at + 1) & (room - 1))
        ;
    return at;
}

static bool grow_pages(struct sim_check *check)
{
    size_t room = check->room ? check->room * 2 : 64;
    struct sim_page *pages = calloc(room, sizeof *pages);
    if (!pages)
        return false;
    for (size_t i = 0; i < check->room; i++)
        if (check->pages[i].address)
            pages[slot_of(pages, room, check->pages[i].address)] = check->pages[i];
    free(check->pages);
    check->pages = pages;
    check->room = room;
    return true;
}

struct sim_shadow *rung_sim_check_global(struct sim_check *check, uint64_t address)
{
    uint64_t first = address & ~(uint64_t)(PAGE_WORDS * 4 - 1);
    if (check->n_pages * 2 >= check->room && !grow_pages(check))
        return NULL;
    struct sim_page *page = &check->pages[slot_of(check->pages, check->room, first)];
    if (!page->address) {
        page->words = calloc(PAGE_WORDS, sizeof *page->words);
        if (!page->words)
            return NULL;
        page->address = first;
        check->n_pages++;
    }
    return &page->words[(address - first) / 4];
}

static void join(struct sim_clocks *to, const struct sim_clocks *from, uint32_t n)
{
    for (uint32_t w = 0; w < n; w++)
        to->of[w] = from->of[w] > to->of[w] ? from->of[w] : to->of[w];
    to->acquired |= from->acquired;
}

/* All lanes of the warp have met. */
static void join_lanes(struct sim_check *check, const struct sim_warp *warp)
{
    check->lanes[warp->index].all = check->now[warp->index].of[warp->index];
}

void rung_sim_check_arrive(struct sim_warp *warp, uint32_t barrier)
{
    struct sim_check *check = warp->block->worker->check;
    struct sim_clocks *now = &check->now[warp->index];
    join(&check->barriers[barrier], now, check->n_warps);
    join_lanes(check, warp);
    now->of[warp->index]++;
}

void rung_sim_check_open(struct sim_block *block, uint32_t barrier, uint32_t warps)
{
    struct sim_check *check = block->worker->check;
    SIM_EACH_ACTIVE(w, warps)
    join(&check->now[w], &check->barriers[barrier], check->n_warps);
    memset(&check->barriers[barrier], 0, sizeof check->barriers[barrier]);
}

void rung_sim_check_warp_sync(struct sim_warp *warp, uint32_t mask)
{
    struct sim_check *check = warp->block->worker->check;
    struct sim_lane_order *order = &check->lanes[warp->index];
    uint32_t *clock = &check->now[warp->index].of[warp->index], joined[SIM_LANES] = {0};
    if (mask == (SIM_ALL & ~warp->exited)) {
        join_lanes(check, warp);
        ++*clock;
        return;
    }
    SIM_EACH_ACTIVE(lane, mask)
    {
        for (uint32_t of = 0; of < SIM_LANES; of++)
            joined[of] = order->known[lane][of] > joined[of] ? order->known[lane][of] : joined[of];
        joined[lane] = *clock;
    }
    SIM_EACH_ACTIVE(lane, mask)
    memcpy(order->known[lane], joined, sizeof joined);
    ++*clock;
}

void rung_sim_check_fence(struct sim_warp *warp)
{
    struct sim_check *check = warp->block->worker->check;
    join(&check->fenced[warp->index], &check->now[warp->index], check->n_warps);
    check->now[warp->index].of[warp->index]++;
}

void rung_sim_check_atomic(struct sim_warp *warp, const struct sim_op *op)
{
    struct sim_check *check = warp->block->worker->check;
    uint32_t **published = &check->published[warp->block->linear];
    if (op->source->space != RUNG_PTX_SPACE_GLOBAL)
        return;
    bool releases = rung_ptx_has(op->source->modifiers, RUNG_PTX_M_RELEASE) ||
                    rung_ptx_has(op->source->modifiers, RUNG_PTX_M_ACQ_REL);
    if (releases)
        rung_sim_check_fence(warp);
    check->now[warp->index].acquired = true;
    if (!*published)
        *published = calloc(check->n_warps, sizeof **published);
    if (!*published) {
        warp->block->worker->dry = true;
        return;
    }
    for (uint32_t w = 0; w < check->n_warps; w++) {
        uint32_t clock = check->fenced[warp->index].of[w];
        (*published)[w] = clock > (*published)[w] ? clock : (*published)[w];
    }
}

bool rung_sim_check_ordered(const struct sim_check *check, const struct sim_warp *warp,
                            uint32_t lane, const struct sim_mark *mark)
{
    uint32_t other_warp = mark->thread / SIM_LANES, other_lane = mark->thread % SIM_LANES;
    const struct sim_clocks *now = &check->now[warp->index];
    if (mark->block != (uint32_t)warp->block->linear) {
        const uint32_t *published = check->published[mark->block];
        return now->acquired &&
               (mark->strong || (published && mark->clock <= published[other_warp]));
    }
    if (other_warp != warp->index)
        return now->of[other_warp] >= mark->clock;
    const struct sim_lane_order *order = &check->lanes[warp->index];
    return other_lane == lane || order->all >= mark->clock ||
           order->known[lane][other_lane] >= mark->clock;
}
