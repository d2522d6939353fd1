/* How each claim is decided. Every decision writes the figures that it rests on. */
#define _GNU_SOURCE
#include "report/claims.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/compare.h"
#include "report/groups.h"

#define BLOCK 256           /* where one block size has to speak for all */
#define BANDWIDTH_BOUND 0.8 /* of the read ceiling: from there on memory bounds */
#define BYTES_DIFFER 0.02   /* a smaller share of the traffic explains no speed-up worth the name */

const char *rung_answer_word(enum rung_answer answer)
{
    static const char *const words[] = {"confirmed", "refuted", "cannot tell"};
    return words[answer];
}

struct decision {
    struct rung_claim *claim;
    const struct rung_claim_evidence *evidence;
    const struct rung_group *group; /* the largest; NULL without rows */
};

static void answer(struct decision *decision, enum rung_answer answer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void answer(struct decision *decision, enum rung_answer answer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(decision->claim->figures, sizeof decision->claim->figures, format, args);
    va_end(args);
    decision->claim->answer = answer;
}

static void no_times(struct decision *decision)
{
    const char *why = decision->evidence->no_times;
    answer(decision, RUNG_CANNOT_TELL, "%s", why ? why : "the rows that decide it have no times");
}

static const struct rung_result *row(const struct decision *decision, unsigned version,
                                     unsigned block, enum rung_bound bound)
{
    return decision->group ? rung_group_find(decision->group, version, block, bound) : NULL;
}

static bool timed(const struct rung_result *result)
{
    return result && result->row.time_ms.known && result->row.time_ms.n_samples > 0;
}

/* B's time against A's, by the rules of a comparison: its class, the ratio and its interval. */
static bool against(struct rung_compared *out, const struct rung_result *a,
                    const struct rung_result *b)
{
    if (!timed(a) || !timed(b))
        return false;
    const struct rung_compare_options options = rung_compare_default();
    *out = (struct rung_compared){.a = a, .b = b, .change = RUNG_CHANGE_UNCLEAR};
    snprintf(out->key, sizeof out->key, "%s", b->key);
    struct rung_sampled x = {a->row.time_ms.samples, a->row.time_ms.n_samples,
                             rung_row_number(&a->row, "sm_mhz")};
    struct rung_sampled y = {b->row.time_ms.samples, b->row.time_ms.n_samples,
                             rung_row_number(&b->row, "sm_mhz")};
    return rung_compare_samples(out, &x, &y, -1, &options, NULL) == RUNG_OK;
}

static void decide_v2_beats_v1(struct decision *decision, enum rung_bound bound)
{
    struct rung_compared compared;
    const struct rung_result *one = row(decision, 1, BLOCK, bound);
    const struct rung_result *two = row(decision, 2, BLOCK, bound);
    if (!against(&compared, one, two)) {
        no_times(decision);
        return;
    }
    answer(
        decision,
        compared.change == RUNG_CHANGE_FASTER   ? RUNG_CONFIRMED
        : compared.change == RUNG_CHANGE_SLOWER ? RUNG_REFUTED
        : compared.change == RUNG_CHANGE_SAME   ? RUNG_REFUTED
                                                : RUNG_CANNOT_TELL,
        "at %d threads version 1 takes %.2f us and version 2 %.2f us: %.3f times as long (%.3f to "
        "%.3f), %s",
        BLOCK, one->row.time_ms.median * 1e3, two->row.time_ms.median * 1e3, compared.ratio.ratio,
        compared.ratio.low, compared.ratio.high, rung_change_word(compared.change));
}

static void decide_v2_beats_v1_const(struct decision *decision)
{
    decide_v2_beats_v1(decision, RUNG_BOUND_CONST);
}

static void decide_v2_beats_v1_runtime(struct decision *decision)
{
    decide_v2_beats_v1(decision, RUNG_BOUND_RUNTIME);
}

static const struct rung_counts *counts_of(const struct rung_result *result, bool *executed)
{
    if (!result)
        return NULL;
    *executed &= result->row.executed.known;
    return result->row.executed.known ? &result->row.executed
           : result->row.model.known  ? &result->row.model
                                      : NULL;
}

static void decide_conflicts_counted(struct decision *decision)
{
    size_t equal = 0, compared = 0;
    bool executed = true;
    char list[256] = "";
    for (size_t i = 0; decision->group && i < decision->group->n_blocks; i++) {
        unsigned block = decision->group->blocks[i];
        const struct rung_counts *one =
            counts_of(row(decision, 1, block, RUNG_BOUND_CONST), &executed);
        const struct rung_counts *two =
            counts_of(row(decision, 2, block, RUNG_BOUND_CONST), &executed);
        if (!one || !two || block < 64) /* below, one warp is all there is */
            continue;
        compared++;
        equal += one->serialised == two->serialised;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%u: %llu, %llu", used ? "; " : "", block,
                 (unsigned long long)one->serialised, (unsigned long long)two->serialised);
    }
    if (!compared)
        answer(decision, RUNG_CANNOT_TELL, "there are no counts of versions 1 and 2");
    else
        answer(decision, equal == compared ? RUNG_CONFIRMED : RUNG_REFUTED,
               "serialised runs per block of versions 1 and 2, %s: %s",
               executed ? "as executed" : "by the model", list);
}

static void decide_conflicts_timed(struct decision *decision)
{
    struct rung_compared compared[2];
    bool known[2];
    for (int bound = 0; bound < 2; bound++)
        known[bound] = against(&compared[bound], row(decision, 1, BLOCK, (enum rung_bound)bound),
                               row(decision, 2, BLOCK, (enum rung_bound)bound));
    if (!known[0] && !known[1]) {
        no_times(decision);
        return;
    }
    bool differ = false, same = true;
    for (int bound = 0; bound < 2; bound++) {
        enum rung_change change = known[bound] ? compared[bound].change : RUNG_CHANGE_UNCLEAR;
        differ |= change == RUNG_CHANGE_FASTER || change == RUNG_CHANGE_SLOWER;
        same &= change == RUNG_CHANGE_SAME;
    }
    char figures[2][96] = {"not measured", "not measured"};
    for (int bound = 0; bound < 2; bound++)
        if (known[bound])
            snprintf(figures[bound], sizeof figures[bound], "%.3f (%.3f to %.3f)",
                     compared[bound].ratio.ratio, compared[bound].ratio.low,
                     compared[bound].ratio.high);
    answer(
        decision,
        differ ? RUNG_REFUTED
        : same ? RUNG_CONFIRMED
               : RUNG_CANNOT_TELL,
        "the counts are equal, the times of version 2 over version 1 are %s with a constant bound "
        "and %s with a run-time bound",
        figures[0], figures[1]);
}

static void decide_v3_bandwidth_bound(struct decision *decision)
{
    struct rung_compared compared;
    const struct rung_result *three = row(decision, 3, BLOCK, RUNG_BOUND_CONST);
    const struct rung_result *four = row(decision, 4, BLOCK, RUNG_BOUND_CONST);
    if (!timed(three) || !isfinite(three->row.of_ceiling)) {
        no_times(decision);
        return;
    }
    char beside[128] = "";
    bool faster = against(&compared, three, four) && compared.change == RUNG_CHANGE_FASTER;
    if (faster)
        snprintf(beside, sizeof beside, "; version 4 reads the same bytes at %.0f GB/s",
                 four->row.gb_per_s);
    answer(decision,
           three->row.of_ceiling >= BANDWIDTH_BOUND && !faster ? RUNG_CONFIRMED : RUNG_REFUTED,
           "version 3 reads %.0f GB/s, %.0f %% of what this card can read%s", three->row.gb_per_s,
           100 * three->row.of_ceiling, beside);
}

static void decide_v4_fewer_bytes(struct decision *decision)
{
    const struct rung_result *three = row(decision, 3, BLOCK, RUNG_BOUND_CONST);
    const struct rung_result *four = row(decision, 4, BLOCK, RUNG_BOUND_CONST);
    if (!three || !four || !three->row.planned || !four->row.planned) {
        answer(decision, RUNG_CANNOT_TELL, "versions 3 and 4 are not both among the rows");
        return;
    }
    double fewer = 1 - (double)four->row.bytes / (double)three->row.bytes;
    struct rung_compared compared;
    char times[96] = "";
    if (against(&compared, three, four))
        snprintf(times, sizeof times, "; it takes %.3f times as long (%.3f to %.3f)",
                 compared.ratio.ratio, compared.ratio.low, compared.ratio.high);
    answer(
        decision, fewer >= BYTES_DIFFER ? RUNG_CONFIRMED : RUNG_REFUTED,
        "both read all %llu elements; with partial sums, version 3 moves %llu bytes and version 4 "
        "%llu, %.2f %% fewer%s",
        (unsigned long long)three->row.n, (unsigned long long)three->row.bytes,
        (unsigned long long)four->row.bytes, 100 * fewer, times);
}

static bool says(const char *word, const char *what)
{
    return strncmp(word, what, strlen(what)) == 0;
}

static void decide_runtime_keeps_modulo(struct decision *decision)
{
    const struct rung_claim_evidence *evidence = decision->evidence;
    size_t divide = 0, known = 0;
    char list[320] = "";
    for (size_t i = 0; i < evidence->n_code; i++) {
        const struct rung_claim_code *code = &evidence->code[i];
        size_t used = strlen(list);
        if (!code->runtime[0])
            continue;
        known++;
        divide += says(code->runtime, "divide");
        snprintf(list + used, sizeof list - used, "%ssm_%u: %s", used ? "; " : "", code->target,
                 code->runtime);
    }
    if (!known)
        answer(decision, RUNG_CANNOT_TELL, "no code of version 1 could be compiled and read here");
    else
        answer(decision, divide == known ? RUNG_CONFIRMED : RUNG_REFUTED, "%s: it depends on %s",
               list,
               divide == known ? "nothing that was tried" : "the target that is compiled for");
}

static void decide_constant_makes_mask(struct decision *decision)
{
    const struct rung_claim_evidence *evidence = decision->evidence;
    bool mask = true, rolled_mask = true;
    size_t known = 0;
    char list[320] = "";
    for (size_t i = 0; i < evidence->n_code; i++) {
        const struct rung_claim_code *code = &evidence->code[i];
        size_t used = strlen(list);
        if (!code->constant[0] || !code->rolled[0])
            continue;
        known++;
        mask &= says(code->constant, "mask");
        rolled_mask &= says(code->rolled, "mask");
        snprintf(list + used, sizeof list - used, "%ssm_%u: unrolled %s, loop kept %s",
                 used ? "; " : "", code->target, code->constant, code->rolled);
    }
    if (!known)
        answer(decision, RUNG_CANNOT_TELL, "no code of version 1 could be compiled and read here");
    else
        answer(decision, mask && rolled_mask ? RUNG_CONFIRMED : RUNG_REFUTED, "%s%s", list,
               mask && !rolled_mask ? ": the unrolling makes the mask, not the constant" : "");
}

/* Of body runs, version 1 over version 3; NAN where they are not counted. */
static double counted_ratio(const struct decision *decision, unsigned block)
{
    bool executed = true;
    const struct rung_counts *one = counts_of(row(decision, 1, block, RUNG_BOUND_CONST), &executed);
    const struct rung_counts *three =
        counts_of(row(decision, 3, block, RUNG_BOUND_CONST), &executed);
    return one && three && three->body_runs ? (double)one->body_runs / (double)three->body_runs
                                            : NAN;
}

static void decide_larger_block_saves_more(struct decision *decision)
{
    struct rung_compared small, large;
    unsigned blocks[2] = {64, 1024};
    bool known = against(&small, row(decision, 3, blocks[0], RUNG_BOUND_CONST),
                         row(decision, 1, blocks[0], RUNG_BOUND_CONST)) &&
                 against(&large, row(decision, 3, blocks[1], RUNG_BOUND_CONST),
                         row(decision, 1, blocks[1], RUNG_BOUND_CONST));
    if (!known) {
        no_times(decision);
        return;
    }
    bool more = large.ratio.low > small.ratio.high, less = large.ratio.high < small.ratio.low;
    char counted[96] = "";
    double few = counted_ratio(decision, blocks[0]), many = counted_ratio(decision, blocks[1]);
    if (isfinite(few) && isfinite(many))
        snprintf(counted, sizeof counted, "; counted body runs say %.2f and %.2f", few, many);
    answer(
        decision,
        more   ? RUNG_CONFIRMED
        : less ? RUNG_REFUTED
               : RUNG_CANNOT_TELL,
        "version 1 over version 3 is %.3f (%.3f to %.3f) at 64 threads and %.3f (%.3f to %.3f) at "
        "1024%s",
        small.ratio.ratio, small.ratio.low, small.ratio.high, large.ratio.ratio, large.ratio.low,
        large.ratio.high, counted);
}

static void decide_every_rung_is_faster(struct decision *decision)
{
    size_t steps = 0, faster = 0, not_faster = 0;
    char list[320] = "";
    for (int bound = 0; bound < 2; bound++)
        for (unsigned version = 2; version <= 4; version++) {
            struct rung_compared compared;
            if (!against(&compared, row(decision, version - 1, BLOCK, (enum rung_bound)bound),
                         row(decision, version, BLOCK, (enum rung_bound)bound)))
                continue;
            steps++;
            faster += compared.change == RUNG_CHANGE_FASTER;
            not_faster +=
                compared.change == RUNG_CHANGE_SLOWER || compared.change == RUNG_CHANGE_SAME;
            size_t used = strlen(list);
            snprintf(list + used, sizeof list - used, "%sv%u to v%u %s %.2fx", used ? ", " : "",
                     version - 1, version, rung_bound_word((enum rung_bound)bound),
                     1 / compared.ratio.ratio);
        }
    if (!steps)
        no_times(decision);
    else
        answer(decision,
               not_faster        ? RUNG_REFUTED
               : faster == steps ? RUNG_CONFIRMED
                                 : RUNG_CANNOT_TELL,
               "at %d threads, the speed-up of each step: %s", BLOCK, list);
}

static void decide_same_additions(struct decision *decision)
{
    bool executed = true, same = true;
    char list[160] = "";
    const struct rung_counts *first = NULL;
    for (unsigned version = 1; version <= 4; version++) {
        const struct rung_counts *counts =
            counts_of(row(decision, version, BLOCK, RUNG_BOUND_CONST), &executed);
        if (!counts)
            continue;
        size_t used = strlen(list);
        same &= !first || counts->additions == first->additions;
        first = first ? first : counts;
        snprintf(list + used, sizeof list - used, "%sv%u %llu", used ? ", " : "", version,
                 (unsigned long long)counts->additions);
    }
    if (!first)
        answer(decision, RUNG_CANNOT_TELL, "there are no counts of a block");
    else
        answer(
            decision, same ? RUNG_CONFIRMED : RUNG_REFUTED,
            "additions of one full block of %d threads, %s: %s; over the whole input every version "
            "does n - 1",
            BLOCK, executed ? "as executed" : "by the model", list);
}

static void decide_first_launch_is_all(struct decision *decision)
{
    const struct rung_result *three = row(decision, 3, BLOCK, RUNG_BOUND_CONST);
    if (!three || !three->row.planned) {
        answer(decision, RUNG_CANNOT_TELL, "version 3 is not among the rows");
        return;
    }
    uint64_t n = three->row.n, blocks = (n + BLOCK - 1) / BLOCK;
    char first[96] = "";
    const json_t *first_ms = json_object_get(three->row.extra, "first_run_ms");
    if (timed(three) && json_is_number(first_ms))
        snprintf(first, sizeof first,
                 "; the first run of all takes %.2f ms against %.4f ms once loaded",
                 json_number_value(first_ms), three->row.time_ms.median);
    answer(
        decision, three->row.passes > 1 ? RUNG_REFUTED : RUNG_CONFIRMED,
        "of %llu elements the first launch of version 3 leaves %llu partial sums; %u passes make "
        "one value%s",
        (unsigned long long)n, (unsigned long long)blocks, three->row.passes, first);
}

static void decide_volatile_warp_is_right(struct decision *decision)
{
    const struct rung_claim_control *sim = &decision->evidence->on_simulator;
    const struct rung_claim_control *card = &decision->evidence->on_card;
    if (sim->tried && sim->caught)
        answer(decision, RUNG_REFUTED, "on the simulator: %.240s%s%.240s", sim->what,
               card->tried ? "; on this card: " : "", card->tried ? card->what : "");
    else if (card->tried && card->wrong_sum)
        answer(decision, RUNG_REFUTED, "on this card: %s", card->what);
    else if (sim->tried)
        answer(decision, RUNG_CONFIRMED, "on the simulator no check told, under any order tried");
    else
        answer(decision, RUNG_CANNOT_TELL, "the control was not tried: %s", sim->what);
}

enum rung_status rung_claims_decide(struct rung_claim claims[RUNG_CLAIMS],
                                    const struct rung_claim_evidence *evidence,
                                    struct rung_error *err)
{
    /* clang-format off */
    static const struct {
        const char *name, *statement, *source, *command;
        void (*decide)(struct decision *decision);
    } table[RUNG_CLAIMS] = {
#define CLAIM(name, statement, source, command) {#name, statement, source, command, decide_##name},
#include "report/claims.def"
#undef CLAIM
    };
    /* clang-format on */
    struct rung_groups groups;
    enum rung_status status = rung_groups_make(&groups, evidence->rows, evidence->n_rows, err);
    if (status != RUNG_OK)
        return status;
    const struct rung_group *largest = NULL;
    for (size_t i = 0; i < groups.n; i++)
        if (!largest || groups.groups[i].n_rows > largest->n_rows)
            largest = &groups.groups[i];
    for (size_t i = 0; i < RUNG_CLAIMS; i++) {
        claims[i] = (struct rung_claim){.name = table[i].name,
                                        .statement = table[i].statement,
                                        .source = table[i].source,
                                        .command = table[i].command};
        struct decision decision = {&claims[i], evidence, largest};
        table[i].decide(&decision);
    }
    rung_groups_release(&groups);
    return RUNG_OK;
}
