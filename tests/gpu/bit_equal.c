/* Card against simulator: the same PTX, the same random floats, the same bits. Every version, form,
 * bound, operation and type runs on both over the awkward sizes of its block, and every sum is
 * compared bit by bit. Skipped (77) on a machine without a card.
 * Alone: build/tests/bit_equal */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

static const unsigned blocks[] = {2, 16, 32, 64, 256, 1024};

struct configs {
    struct rung_config *items;
    size_t count;
};

/* Everything that the templates have at these blocks, for one operation and one type. */
static struct configs list(const struct rung_ladder *ladder, enum rung_op op, enum rung_type type)
{
    struct configs all = {calloc(4096, sizeof *all.items), 0};
    for (size_t v = 0; v < ladder->n_versions; v++)
        for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
            for (int form = 0; form < 2 * 2 * 4; form++) {
                struct rung_config config = {
                    .version = rung_template_version(ladder->versions[v]),
                    .variant = rung_template_variant(ladder->versions[v]),
                    .block = blocks[b],
                    .bound = (enum rung_bound)(form & 1),
                    .unroll = (enum rung_unroll)(form >> 1 & 1),
                    .predicate = (enum rung_predicate)(form >> 2),
                    .op = op,
                    .type = type,
                };
                if (rung_template_supports(ladder->versions[v], &config, NULL) == RUNG_OK)
                    all.items[all.count++] = config;
            }
    return all;
}

struct side {
    struct rung_device device;
    struct rung_bench bench;
};

static bool open_side(struct side *side, const struct rung_ladder *ladder,
                      const struct rung_image_source *images, const struct configs *configs,
                      struct rung_error *err)
{
    const struct rung_bench_spec spec = {
        .device = &side->device,
        .ladder = ladder,
        .images = images,
        .image = RUNG_IMAGE_PTX,
        .target = 75,
    };
    return rung_bench_open(&side->bench, &spec, configs->items, configs->count, err) == RUNG_OK;
}

/* One complete reduction over random floats; the grid of a fixed-grid version is that of `grid`. */
static bool reduce(double *sum, const struct side *side, size_t entry, uint64_t fixed_blocks,
                   uint64_t n, struct rung_error *err)
{
    struct rung_reduction reduction = side->bench.entries[entry].reduction;
    reduction.fixed_blocks = fixed_blocks;
    struct rung_plan plan;
    struct rung_workspace workspace = {0};
    struct rung_expected expected;
    const struct rung_pattern pattern = {.kind = RUNG_PATTERN_RANDOM, .seed = 7};
    bool ok = rung_reduction_plan(&plan, &reduction, n, err) == RUNG_OK;
    struct rung_workspace_spec spec = {
        .op = reduction.config.op,
        .type = reduction.config.type,
        .n = n,
        .room = ok ? plan.partials_room : 1,
    };
    ok = ok && rung_workspace_open(&workspace, &side->device, &spec, err) == RUNG_OK &&
         rung_pattern_upload(&expected, &workspace, &pattern, err) == RUNG_OK &&
         rung_reduction_run(sum, &reduction, &plan, &workspace, err) == RUNG_OK;
    rung_workspace_release(&workspace);
    return ok;
}

struct tally {
    size_t runs, differ, failed;
};

static void compare(struct tally *tally, const struct side *card, const struct side *sim,
                    size_t entry)
{
    const struct rung_bench_entry *on_card = &card->bench.entries[entry];
    const struct rung_bench_entry *on_sim = &sim->bench.entries[entry];
    char id[RUNG_ID_SIZE];
    rung_config_id(&on_card->config, id);
    if (on_card->status != RUNG_ROW_OK || on_sim->status != RUNG_ROW_OK) {
        printf("%s: %s%s\n", id, on_card->reason, on_sim->reason);
        tally->failed++;
        return;
    }
    uint64_t sizes[RUNG_AWKWARD_MAX];
    size_t n_sizes = rung_awkward_sizes(sizes, on_card->config.block);
    for (size_t i = 0; i < n_sizes; i++) {
        struct rung_error err = {0};
        double a, b;
        if (!reduce(&a, card, entry, 24, sizes[i], &err) ||
            !reduce(&b, sim, entry, 24, sizes[i], &err)) {
            printf("%s, n = %" PRIu64 ": %s\n", id, sizes[i], err.text);
            tally->failed++;
            return;
        }
        tally->runs++;
        if (memcmp(&a, &b, sizeof a) == 0)
            continue;
        printf("%s, n = %" PRIu64 ": card %a, simulator %a\n", id, sizes[i], a, b);
        tally->differ++;
    }
}

static bool compare_kind(struct tally *tally, struct side *card, struct side *sim,
                         const struct rung_ladder *ladder, const struct rung_image_source *images,
                         enum rung_op op, enum rung_type type, struct rung_error *err)
{
    struct configs configs = list(ladder, op, type);
    bool ok = open_side(card, ladder, images, &configs, err) &&
              open_side(sim, ladder, images, &configs, err);
    for (size_t i = 0; ok && i < configs.count; i++)
        compare(tally, card, sim, i);
    rung_bench_close(&card->bench);
    rung_bench_close(&sim->bench);
    card->bench = sim->bench = (struct rung_bench){0};
    free(configs.items);
    return ok;
}

int main(void)
{
    struct rung_arena arena = {0};
    struct rung_ladder ladder;
    struct rung_error err = {0};
    struct side card = {0}, sim = {0};
    char why[512];
    if (rung_device_open(&card.device, "cuda", NULL, why, &err) != RUNG_OK) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    struct rung_nvrtc *nvrtc = NULL;
    struct rung_cache *cache = NULL;
    char no_cache[256];
    rung_cache_open(&cache, NULL, no_cache);
    struct tally tally = {0};
    bool ok = rung_device_open(&sim.device, "sim", NULL, why, &err) == RUNG_OK &&
              rung_ladder_load(&ladder, &arena, &err) == RUNG_OK &&
              rung_nvrtc_open(&nvrtc, NULL, &err) == RUNG_OK;
    const struct rung_image_source images = {.ladder = &ladder, .nvrtc = nvrtc, .cache = cache};
    for (int op = 0; ok && op <= RUNG_OP_DOT; op++)
        for (int type = 0; ok && type <= RUNG_TYPE_I32; type++)
            ok = compare_kind(&tally, &card, &sim, &ladder, &images, (enum rung_op)op,
                              (enum rung_type)type, &err);
    printf("%s and the simulator: %zu reductions, %zu differ, %zu configurations failed%s%s\n",
           card.device.name, tally.runs, tally.differ, tally.failed, ok ? "" : ": ", err.text);
    rung_cache_close(cache);
    rung_nvrtc_close(nvrtc);
    rung_device_close(&sim.device);
    rung_device_close(&card.device);
    rung_arena_release(&arena);
    return ok && tally.runs > 0 && tally.differ == 0 && tally.failed == 0 ? 0 : 1;
}
