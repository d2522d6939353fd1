/* The course of a sweep: its worker, and which cells are measured together in which order. */
#define _GNU_SOURCE
#include "sweep/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/stats.h"
#include "sweep/slot.h"

double rung_sweep_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct rung_sweep_options rung_sweep_default(void)
{
    return (struct rung_sweep_options){
        .stop = rung_stop_rule_default(), .hang_s = 60, .group = 16, .seed = 1};
}

/* Starts a worker and opens its device. A worker that cannot even do that ends the sweep. */
static enum rung_status start(struct rung_sweep *sweep, struct rung_error *err)
{
    char why[256];
    json_t *reply;
    double begin = rung_sweep_now_s();
    enum rung_status status =
        rung_worker_start(&sweep->worker, sweep->answer, sweep->answer_context, err);
    if (status != RUNG_OK)
        return status;
    enum rung_worker_end end =
        rung_worker_ask(&reply, &sweep->worker, json_pack("{s:s}", "do", "open"),
                        sweep->options.hang_s, sweep->options.interrupted, why);
    sweep->times.open_s += rung_sweep_now_s() - begin;
    if (end == RUNG_WORKER_INTERRUPTED)
        return rung_fail(err, RUNG_INTERRUPTED, "interrupted");
    if (end != RUNG_WORKER_ANSWERED)
        return rung_fail(err, RUNG_UNABLE, "opening the device: %s", why);
    const char *error = json_string_value(json_object_get(reply, "error"));
    if (error) {
        json_int_t code = json_integer_value(json_object_get(reply, "code"));
        status = rung_fail(err, code ? (enum rung_status)code : RUNG_UNABLE, "%s", error);
        json_decref(reply);
        return status;
    }
    json_decref(sweep->facts);
    sweep->facts = reply;
    return RUNG_OK;
}

/* What a request that failed says of its row. */
static void read_failure(enum rung_row_status *status, char why[512], const json_t *reply)
{
    static const enum rung_row_status failures[] = {RUNG_ROW_WRONG, RUNG_ROW_COMPILE,
                                                    RUNG_ROW_CONSTRAINTS, RUNG_ROW_UNSUPPORTED,
                                                    RUNG_ROW_TIMEOUT};
    const char *word = json_string_value(json_object_get(reply, "status"));
    *status = RUNG_ROW_RUNTIME;
    for (size_t i = 0; word && i < sizeof failures / sizeof *failures; i++)
        if (strcmp(word, rung_row_status_word(failures[i])) == 0)
            *status = failures[i];
    snprintf(why, 512, "%.500s", json_string_value(json_object_get(reply, "error")));
}

enum rung_status rung_sweep_ask(json_t **reply, enum rung_row_status *status, char why[512],
                                struct rung_sweep *sweep, json_t *request, struct rung_error *err)
{
    *reply = NULL;
    if (!sweep->worker.pid) {
        sweep->restarts++;
        enum rung_status started = start(sweep, err);
        if (started != RUNG_OK) {
            json_decref(request);
            return started;
        }
    }
    char end_why[256];
    switch (rung_worker_ask(reply, &sweep->worker, request, sweep->options.hang_s,
                            sweep->options.interrupted, end_why)) {
    case RUNG_WORKER_ANSWERED:
        break;
    case RUNG_WORKER_INTERRUPTED:
        return rung_fail(err, RUNG_INTERRUPTED, "interrupted");
    case RUNG_WORKER_TIMED_OUT:
        *status = RUNG_ROW_TIMEOUT;
        snprintf(why, 512, "%s", end_why);
        return RUNG_OK;
    case RUNG_WORKER_DIED:
        *status = RUNG_ROW_RUNTIME;
        snprintf(why, 512, "%s", end_why);
        return RUNG_OK;
    }
    bool dead = json_is_true(json_object_get(*reply, "dead"));
    if (json_object_get(*reply, "error")) {
        read_failure(status, why, *reply);
        json_decref(*reply);
        *reply = NULL;
    }
    if (dead)
        rung_worker_stop(&sweep->worker, 0.2);
    return RUNG_OK;
}

enum rung_status rung_sweep_begin(struct rung_sweep *out, rung_worker_fn *answer, void *context,
                                  const struct rung_sweep_options *options, struct rung_error *err)
{
    *out = (struct rung_sweep){
        .answer = answer, .answer_context = context, .options = *options, .ceiling = NAN};
    double begin = rung_sweep_now_s();
    enum rung_status status = start(out, err);
    out->times.total_s += rung_sweep_now_s() - begin;
    if (status != RUNG_OK)
        rung_sweep_end(out);
    return status;
}

bool rung_sweep_simulated(const struct rung_sweep *sweep)
{
    const char *kind = json_string_value(json_object_get(sweep->facts, "kind"));
    return kind && strcmp(kind, "sim") == 0;
}

void rung_sweep_end(struct rung_sweep *sweep)
{
    rung_worker_stop(&sweep->worker, 2);
    json_decref(sweep->facts);
    sweep->facts = NULL;
}

enum rung_status rung_sweep_build(struct rung_sweep *sweep, const struct rung_cell *cells,
                                  size_t n_cells, struct rung_error *err)
{
    double begin = rung_sweep_now_s();
    json_t *list = json_array(), *reply;
    for (size_t i = 0; i < n_cells; i++)
        json_array_append_new(list, rung_cell_to_json(&cells[i]));
    enum rung_row_status row_status;
    char why[512];
    /* What fails to build is told by its own row, when it is prepared. */
    enum rung_status status =
        rung_sweep_ask(&reply, &row_status, why, sweep,
                       json_pack("{s:s, s:o}", "do", "build", "cells", list), err);
    json_decref(reply);
    if (status == RUNG_OK)
        status = rung_sweep_ask(&reply, &row_status, why, sweep,
                                json_pack("{s:s}", "do", "ceiling"), err);
    const json_t *rate = status == RUNG_OK ? json_object_get(reply, "gb_per_s") : NULL;
    sweep->ceiling = json_is_number(rate) ? json_number_value(rate) : NAN;
    json_decref(reply);
    sweep->times.build_s += rung_sweep_now_s() - begin;
    sweep->times.total_s += rung_sweep_now_s() - begin;
    return status;
}

static void shuffle(const struct rung_cell **cells, size_t n, uint64_t *random)
{
    for (size_t i = n; i > 1; i--) {
        size_t other = rung_random_below(random, i);
        const struct rung_cell *moved = cells[i - 1];
        cells[i - 1] = cells[other];
        cells[other] = moved;
    }
}

static bool share_input(const struct rung_cell *a, const struct rung_cell *b)
{
    return a->n == b->n && a->config.op == b->config.op && a->config.type == b->config.type;
}

static int by_input(const void *a, const void *b)
{
    const struct rung_cell *const *x = a, *const *y = b;
    if ((*x)->config.op != (*y)->config.op)
        return (*x)->config.op < (*y)->config.op ? -1 : 1;
    if ((*x)->config.type != (*y)->config.type)
        return (*x)->config.type < (*y)->config.type ? -1 : 1;
    if ((*x)->n != (*y)->n)
        return (*x)->n < (*y)->n ? -1 : 1;
    return (*x > *y) - (*x < *y);
}

/* Sorts by input, so that each is made once, and shuffles the cells of each input. */
static const struct rung_cell **put_in_order(const struct rung_cell *cells, size_t n, bool in_order,
                                             uint64_t *random)
{
    const struct rung_cell **order = calloc(n + 1, sizeof *order);
    for (size_t i = 0; order && i < n; i++)
        order[i] = &cells[i];
    if (!order || in_order)
        return order;
    qsort(order, n, sizeof *order, by_input);
    for (size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && share_input(order[begin], order[end]);)
            end++;
        shuffle(order + begin, end - begin, random);
    }
    return order;
}

/* The slots of some cells: one each, or two of a noise sweep. */
static size_t fill_slots(struct rung_slot *slots, const struct rung_cell *const *cells, size_t n,
                         bool twins, size_t first_number)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        for (int twin = 0; twin < (twins ? 2 : 1); twin++) {
            slots[count] = (struct rung_slot){.cell = cells[i], .number = first_number + count};
            if (twins)
                slots[count].twin = twin ? "b" : "a";
            count++;
        }
    return count;
}

enum rung_status rung_sweep_measure(struct rung_sweep *sweep, const struct rung_cell *cells,
                                    size_t n_cells, bool twins, struct rung_error *err)
{
    double begin = rung_sweep_now_s();
    uint64_t random = sweep->options.seed;
    size_t group = sweep->options.group ? sweep->options.group : 1, done = 0, number = 0;
    size_t total = twins ? 2 * n_cells : n_cells;
    const struct rung_cell **order = put_in_order(cells, n_cells, sweep->options.in_order, &random);
    struct rung_slot *slots = calloc(2 * group, sizeof *slots);
    enum rung_status status =
        order && slots ? RUNG_OK : rung_fail(err, RUNG_MEMORY, "no memory for %zu cells", n_cells);
    for (size_t at = 0, n; status == RUNG_OK && at < n_cells; at += n) {
        for (n = 1; n < group && at + n < n_cells && share_input(order[at], order[at + n]);)
            n++;
        size_t count = fill_slots(slots, order + at, n, twins, number);
        number += count;
        status = rung_slots_measure(sweep, slots, count, &random, &done, total, err);
        for (size_t i = 0; i < count; i++)
            rung_slot_release(&slots[i]);
    }
    free(slots);
    free(order);
    sweep->times.total_s += rung_sweep_now_s() - begin;
    return status;
}
