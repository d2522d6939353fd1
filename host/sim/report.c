/* Findings and faults, kept by each worker until the launch is over. */
#include "sim/exec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool rung_sim_findings_add(struct rung_sim_findings *to, const struct rung_sim_finding *finding)
{
    to->total++;
    if (to->n_items == RUNG_SIM_FINDINGS_MAX)
        return true;
    if (to->n_items == to->room) {
        size_t room = to->room ? to->room * 2 : 16;
        struct rung_sim_finding *items = realloc(to->items, room * sizeof *items);
        if (!items)
            return false;
        to->items = items;
        to->room = room;
    }
    to->items[to->n_items++] = *finding;
    return true;
}

void rung_sim_findings_clear(struct rung_sim_findings *findings)
{
    findings->n_items = 0;
    findings->total = 0;
}

void rung_sim_findings_release(struct rung_sim_findings *findings)
{
    free(findings->items);
    memset(findings, 0, sizeof *findings);
}

static void fill(struct rung_sim_finding *out, struct sim_warp *warp,
                 enum rung_sim_finding_kind kind, const struct sim_op *op, unsigned other_line,
                 uint32_t lanes, const char *format, va_list arguments)
{
    const struct sim_block *block = warp->block;
    *out = (struct rung_sim_finding){
        .kind = kind,
        .line = op ? op->source->line : block->barriers[warp->barrier].line,
        .other_line = other_line,
        .block = (uint32_t)block->linear,
        .warp = warp->index,
        .lanes = lanes,
    };
    vsnprintf(out->text, sizeof out->text, format, arguments);
}

static void fail(struct sim_worker *worker, int code, const struct rung_sim_finding *finding)
{
    if (worker->fault)
        return;
    worker->fault = code;
    snprintf(worker->why, sizeof worker->why,
             "PTX line %u, block %u, warp %u, lanes 0x%08x: %.180s", finding->line, finding->block,
             finding->warp, finding->lanes, finding->text);
}

void rung_sim_report(struct sim_warp *warp, enum rung_sim_finding_kind kind,
                     const struct sim_op *op, unsigned other_line, uint32_t lanes,
                     const char *format, ...)
{
    struct sim_worker *worker = warp->block->worker;
    struct rung_sim_finding finding;
    va_list arguments;
    if (!worker->check)
        return;
    va_start(arguments, format);
    fill(&finding, warp, kind, op, other_line, lanes, format, arguments);
    va_end(arguments);
    worker->dry |= !rung_sim_findings_add(&worker->findings, &finding);
    if (worker->launch->options.strict)
        fail(worker, 719, &finding);
}

void rung_sim_fault(struct sim_warp *warp, int code, enum rung_sim_finding_kind kind,
                    const struct sim_op *op, uint32_t lanes, const char *format, ...)
{
    struct sim_worker *worker = warp->block->worker;
    struct rung_sim_finding finding;
    va_list arguments;
    if (worker->fault)
        return;
    va_start(arguments, format);
    fill(&finding, warp, kind, op, 0, lanes, format, arguments);
    va_end(arguments);
    worker->dry |= !rung_sim_findings_add(&worker->findings, &finding);
    fail(worker, code, &finding);
}
