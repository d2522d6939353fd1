/* The simulator as a value of the driver table, and what only a simulator can be asked. */
#include <stdio.h>
#include <string.h>

#include "sim/driver_state.h"

static void set_options(const struct rung_sim_options *options)
{
    rung_sim_lock();
    rung_sim_process.options = *options;
    rung_sim_unlock();
}

static void get_options(struct rung_sim_options *options)
{
    rung_sim_lock();
    *options = rung_sim_process.options;
    rung_sim_unlock();
}

static void reset(void)
{
    rung_sim_lock();
    rung_sim_process.counters = (struct rung_sim_counters){0};
    rung_sim_findings_clear(&rung_sim_process.findings);
    rung_sim_unlock();
}

static void read_counters(struct rung_sim_counters *out)
{
    rung_sim_lock();
    *out = rung_sim_process.counters;
    rung_sim_unlock();
}

static uint64_t read_findings(struct rung_sim_finding *out, uint64_t room)
{
    rung_sim_lock();
    const struct rung_sim_findings *findings = &rung_sim_process.findings;
    uint64_t n = findings->n_items < room ? findings->n_items : room;
    if (n)
        memcpy(out, findings->items, n * sizeof *out);
    uint64_t total = findings->total;
    rung_sim_unlock();
    return total;
}

/* What a host still holds: handles that have a call of their own to release them, allocations, and
 * what it left to a context that ended. */
static uint64_t live_handles(void)
{
    rung_sim_lock();
    uint64_t live = rung_sim_memory_live() + rung_sim_process.leaked;
    for (int kind = 0; kind < RUNG_SIM_HANDLE_KINDS; kind++)
        if (kind != RUNG_SIM_HANDLE_FUNCTION)
            live += rung_sim_objects_live((enum rung_sim_handle_kind)kind);
    rung_sim_unlock();
    return live;
}

static void explain(char text[256])
{
    rung_sim_lock();
    memcpy(text, rung_sim_process.fault, sizeof rung_sim_process.fault);
    rung_sim_unlock();
}

static const struct rung_sim_control control = {
    .set_options = set_options,
    .get_options = get_options,
    .reset = reset,
    .read_counters = read_counters,
    .read_findings = read_findings,
    .live_handles = live_handles,
};

void rung_driver_open_sim(struct rung_driver *out)
{
    *out = (struct rung_driver){
        .kind = RUNG_DRIVER_SIM, .path = "(built in)", .sim = &control, .explain = explain};
#define CU_FN(name, abi, kind, parameters, arguments) out->name = rung_sim_##name;
#include "driver/driver_api.def"
#undef CU_FN
}
