/* Rounds over cells that are measured together: prepare, sample until enough, finish, hand over. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/stats.h"
#include "bench/bench.h"
#include "sweep/slot.h"

#define REQUEST_S 1.0 /* samples of about so long are asked for at a time */

struct rounds {
    struct rung_sweep *sweep;
    struct rung_slot *slots;
    size_t n;
    size_t *done, total;
    struct rung_error *err;
};

void rung_slot_release(struct rung_slot *slot)
{
    if (slot->has_row)
        rung_row_release(&slot->row);
    free(slot->times_ms);
    free(slot->sm_mhz);
    *slot = (struct rung_slot){0};
}

static void tell(struct rounds *rounds, const struct rung_slot *slot, const char *verb)
{
    char key[RUNG_CELL_KEY_SIZE], text[RUNG_CELL_KEY_SIZE + 16];
    if (!rounds->sweep->options.progress)
        return;
    rung_cell_key(slot->cell, key);
    snprintf(text, sizeof text, "%s %s", verb, key);
    rounds->sweep->options.progress(rounds->sweep->options.context, *rounds->done, rounds->total,
                                    text);
}

static enum rung_status hand_over(struct rounds *rounds, struct rung_slot *slot)
{
    const struct rung_sweep_options *options = &rounds->sweep->options;
    if (slot->twin && slot->row.extra)
        json_object_set_new(slot->row.extra, "twin", json_string(slot->twin));
    slot->done = true;
    ++*rounds->done;
    tell(rounds, slot, "finished");
    return options->row ? options->row(options->context, &slot->row, rounds->err) : RUNG_OK;
}

/* Ends a slot with what went wrong; what was measured of it is not shown as if it were right. */
static enum rung_status fail_slot(struct rounds *rounds, struct rung_slot *slot,
                                  enum rung_row_status row_status, const char *why)
{
    enum rung_status status = RUNG_OK;
    if (!slot->has_row)
        status = rung_cell_row(&slot->row, slot->cell, rounds->err);
    if (status != RUNG_OK)
        return status;
    slot->has_row = true;
    free(slot->row.time_ms.samples);
    slot->row.time_ms = (struct rung_times){0};
    slot->row.status = row_status;
    snprintf(slot->row.reason, sizeof slot->row.reason, "%s", why);
    return hand_over(rounds, slot);
}

/* One request about a slot. When the worker went with it, nothing is prepared any more. */
static enum rung_status ask(json_t **reply, enum rung_row_status *row_status, char why[512],
                            struct rounds *rounds, json_t *request)
{
    enum rung_status status =
        rung_sweep_ask(reply, row_status, why, rounds->sweep, request, rounds->err);
    for (size_t i = 0; i < rounds->n && !rounds->sweep->worker.pid; i++)
        rounds->slots[i].prepared = false;
    return status;
}

/* Puts the fields that tie the row to its cell into what the worker made. */
static enum rung_status take_row(struct rounds *rounds, struct rung_slot *slot,
                                 const json_t *object)
{
    struct rung_row own;
    enum rung_status status = rung_cell_row(&own, slot->cell, rounds->err);
    if (status != RUNG_OK)
        return status;
    if (slot->has_row)
        rung_row_release(&slot->row);
    slot->has_row = false;
    status = rung_row_from_json(&slot->row, object, rounds->err);
    if (status == RUNG_OK) {
        slot->has_row = true;
        if (!slot->row.extra)
            slot->row.extra = json_object();
        json_object_update(slot->row.extra, own.extra);
    }
    rung_row_release(&own);
    return status;
}

static enum rung_status prepare(struct rounds *rounds, struct rung_slot *slot)
{
    json_t *reply;
    enum rung_row_status row_status;
    char why[512];
    double begin = rung_sweep_now_s();
    tell(rounds, slot, "verifying");
    json_t *request = json_pack("{s:s, s:I, s:o}", "do", "prepare", "slot",
                                (json_int_t)slot->number, "cell", rung_cell_to_json(slot->cell));
    enum rung_status status = ask(&reply, &row_status, why, rounds, request);
    rounds->sweep->times.prepare_s += rung_sweep_now_s() - begin;
    if (status != RUNG_OK)
        return status;
    if (!reply)
        return fail_slot(rounds, slot, row_status, why);
    bool timed = json_is_true(json_object_get(reply, "timed"));
    status = take_row(rounds, slot, json_object_get(reply, "row"));
    json_decref(reply);
    if (status != RUNG_OK)
        return status;
    slot->prepared = timed;
    return timed ? RUNG_OK : hand_over(rounds, slot);
}

static enum rung_status keep_samples(struct rounds *rounds, struct rung_slot *slot,
                                     const json_t *reply)
{
    const json_t *times = json_object_get(reply, "time_ms"), *clocks;
    clocks = json_object_get(reply, "sm_mhz");
    size_t n = json_array_size(times), needed = slot->n_samples + n;
    if (needed > slot->room) {
        size_t room = needed * 2;
        double *more_times = realloc(slot->times_ms, room * sizeof *more_times);
        slot->times_ms = more_times ? more_times : slot->times_ms;
        double *more_mhz = realloc(slot->sm_mhz, room * sizeof *more_mhz);
        slot->sm_mhz = more_mhz ? more_mhz : slot->sm_mhz;
        if (!more_times || !more_mhz)
            return rung_fail(rounds->err, RUNG_MEMORY, "no memory for %zu samples", room);
        slot->room = room;
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *mhz = json_array_get(clocks, i);
        slot->times_ms[slot->n_samples] = json_number_value(json_array_get(times, i));
        slot->sm_mhz[slot->n_samples++] = json_is_number(mhz) ? json_number_value(mhz) : NAN;
    }
    slot->throttled += (size_t)json_integer_value(json_object_get(reply, "throttled"));
    return RUNG_OK;
}

static double median_of(const double *values, size_t n)
{
    struct rung_summary summary;
    size_t known = 0;
    double *copy = malloc((n + 1) * sizeof *copy);
    for (size_t i = 0; copy && i < n; i++)
        if (!isnan(values[i]))
            copy[known++] = values[i];
    bool ok = copy && known && rung_stats_summarise(&summary, copy, known, NULL) == RUNG_OK;
    free(copy);
    return ok ? summary.median : NAN;
}

/* The times, and beside them what is needed to judge them. */
static enum rung_status fill_times(struct rounds *rounds, struct rung_slot *slot)
{
    struct rung_summary summary;
    enum rung_status status =
        rung_stats_summarise(&summary, slot->times_ms, slot->n_samples, rounds->err);
    if (status != RUNG_OK)
        return status;
    double *samples = slot->times_ms;
    slot->times_ms = NULL;
    status = rung_times_summarise(&slot->row.time_ms, samples, slot->n_samples, rounds->err);
    if (status != RUNG_OK)
        return status;
    rung_row_rate(&slot->row, rounds->sweep->ceiling);
    double mhz = median_of(slot->sm_mhz, slot->n_samples);
    json_t *timing =
        json_pack("{s:s, s:s, s:s, s:I, s:[f,f], s:f, s:I, s:I, s:b, s:f}", "state",
                  rung_state_word(slot->cell->state), "timer", rung_timer_word(slot->cell->timer),
                  "stop", slot->stop_reason, "throttled", (json_int_t)slot->throttled,
                  "median_interval", summary.median_interval.low, summary.median_interval.high,
                  "coverage", summary.median_interval.coverage, "rounds", (json_int_t)slot->rounds,
                  "outliers", (json_int_t)(summary.mild_outliers + summary.severe_outliers),
                  "slow_first", (int)summary.slow_first, "lag1", summary.lag1);
    if (!timing)
        return rung_fail(rounds->err, RUNG_MEMORY, "out of memory");
    json_object_set_new(timing, "sm_mhz", isnan(mhz) ? json_null() : json_real(mhz));
    json_object_set_new(slot->row.extra, "timing", timing);
    return RUNG_OK;
}

static enum rung_status finish(struct rounds *rounds, struct rung_slot *slot)
{
    json_t *reply;
    enum rung_row_status row_status;
    char why[512];
    enum rung_status status =
        ask(&reply, &row_status, why, rounds,
            json_pack("{s:s, s:I}", "do", "finish", "slot", (json_int_t)slot->number));
    if (status != RUNG_OK)
        return status;
    if (!reply)
        return fail_slot(rounds, slot, row_status, why);
    json_t *more = json_object_get(reply, "row"); /* further fields: counters */
    if (more)
        json_object_update(slot->row.extra, more);
    json_decref(reply);
    status = fill_times(rounds, slot);
    return status == RUNG_OK ? hand_over(rounds, slot) : status;
}

/* How many samples to ask for: what the rule wants, but not much more than a second of them. */
static size_t wanted_samples(const struct rounds *rounds, const struct rung_slot *slot)
{
    size_t count = rung_stop_next(&rounds->sweep->options.stop, slot->n_samples);
    if (slot->n_samples && slot->spent_s > 0) {
        double most = REQUEST_S * (double)slot->n_samples / slot->spent_s;
        if (most < (double)count)
            count = most < 1 ? 1 : (size_t)most;
    }
    return count;
}

static enum rung_status take_samples(struct rounds *rounds, struct rung_slot *slot)
{
    json_t *reply;
    enum rung_row_status row_status;
    char why[512];
    const struct rung_stop_rule *rule = &rounds->sweep->options.stop;
    double begin = rung_sweep_now_s();
    tell(rounds, slot, "timing");
    json_t *request = json_pack("{s:s, s:I, s:I}", "do", "sample", "slot", (json_int_t)slot->number,
                                "count", (json_int_t)wanted_samples(rounds, slot));
    enum rung_status status = ask(&reply, &row_status, why, rounds, request);
    double spent_s = rung_sweep_now_s() - begin;
    rounds->sweep->times.sample_s += spent_s;
    slot->spent_s += spent_s;
    slot->rounds++;
    if (status != RUNG_OK)
        return status;
    if (!reply)
        return fail_slot(rounds, slot, row_status, why);
    size_t before = slot->n_samples;
    status = keep_samples(rounds, slot, reply);
    json_decref(reply);
    if (status != RUNG_OK)
        return status;
    if (slot->n_samples == before && slot->throttled) {
        snprintf(why, sizeof why,
                 "throttled: the SM clock stayed below 75 %% of the card's in %zu samples",
                 slot->throttled);
        return fail_slot(rounds, slot, RUNG_ROW_RUNTIME, why);
    }
    bool enough;
    status = rung_stop_check(&enough, &slot->stop_reason, rule, slot->times_ms, slot->n_samples,
                             slot->spent_s, rounds->err);
    return status == RUNG_OK && enough ? finish(rounds, slot) : status;
}

static enum rung_status visit(struct rounds *rounds, struct rung_slot *slot)
{
    enum rung_status status = slot->prepared ? RUNG_OK : prepare(rounds, slot);
    return status == RUNG_OK && slot->prepared ? take_samples(rounds, slot) : status;
}

static size_t list_open(size_t *order, const struct rounds *rounds)
{
    size_t n = 0;
    for (size_t i = 0; i < rounds->n; i++)
        if (!rounds->slots[i].done)
            order[n++] = i;
    return n;
}

enum rung_status rung_slots_measure(struct rung_sweep *sweep, struct rung_slot *slots, size_t n,
                                    uint64_t *random, size_t *done, size_t total,
                                    struct rung_error *err)
{
    struct rounds rounds = {
        .sweep = sweep, .slots = slots, .n = n, .done = done, .total = total, .err = err};
    size_t *order = calloc(n + 1, sizeof *order);
    enum rung_status status =
        order ? RUNG_OK : rung_fail(err, RUNG_MEMORY, "no memory for %zu cells", n);
    for (size_t i = 0; i < n && status == RUNG_OK; i++)
        status = prepare(&rounds, &slots[i]);
    size_t open;
    while (status == RUNG_OK && (open = list_open(order, &rounds)) > 0) {
        for (size_t i = open; i > 1 && !sweep->options.in_order; i--) {
            size_t other = rung_random_below(random, i), moved = order[i - 1];
            order[i - 1] = order[other];
            order[other] = moved;
        }
        for (size_t i = 0; i < open && status == RUNG_OK; i++)
            status = visit(&rounds, &slots[order[i]]);
    }
    free(order);
    return status;
}
