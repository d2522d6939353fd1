/* PTX, cubin and disassembly of many images brought together, kernel by kernel. */
#define _GNU_SOURCE
#include "inspect/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cubin/elf.h"
#include "inspect/lower.h"
#include "ptx/module.h"

/* A kernel whose machine code waits for the disassembler. */
struct waiting {
    struct rung_inspection *inspection;
    struct rung_inspected *inspected;
    struct rung_sass_routine *routines;
    size_t n_routines;
};

struct queue {
    struct waiting *waiting;
    struct rung_disasm_job *jobs;
    size_t n, room;
};

static enum rung_status no_memory(struct rung_inspection *out)
{
    return rung_fail(&out->err, RUNG_MEMORY, "out of memory");
}

static bool make_room(struct rung_inspection *out, size_t extra)
{
    struct rung_inspected *kernels =
        rung_arena_array(&out->arena, out->n_kernels + extra + 1, sizeof *kernels);
    if (!kernels)
        return false;
    if (out->n_kernels)
        memcpy(kernels, out->kernels, out->n_kernels * sizeof *kernels);
    out->kernels = kernels;
    return true;
}

static enum rung_status judge_ptx(struct rung_inspection *out, struct rung_inspected *inspected,
                                  const struct rung_ptx_function *function)
{
    struct rung_inspected_side *side = &inspected->ptx;
    if (!rung_lower_ptx(&side->code, function, &out->ptx_lines, &out->arena) ||
        !rung_verdict_reach(&side->verdict, &side->code, &out->arena))
        return no_memory(out);
    side->present = true;
    inspected->kernel = side->code.name;
    inspected->first_line = function->line;
    inspected->last_line = function->line;
    if (function->n_instructions > 0)
        inspected->last_line = function->instructions[function->n_instructions - 1].line;
    return RUNG_OK;
}

static enum rung_status read_ptx(struct rung_inspection *out,
                                 const struct rung_inspect_input *input)
{
    struct rung_ptx_module module = {0};
    size_t length = strnlen(input->ptx, input->ptx_length);
    enum rung_status status = rung_ptx_parse(&module, input->ptx, length, &out->err);
    if (status == RUNG_OK && (!rung_lines_split(&out->ptx_lines, input->ptx, length, &out->arena) ||
                              !make_room(out, module.n_functions)))
        status = no_memory(out);
    const char *word =
        module.target_word && status == RUNG_OK
            ? rung_arena_copy(&out->arena, module.target_word, strlen(module.target_word))
            : NULL;
    const char *nvvm = module.nvvm && status == RUNG_OK
                           ? rung_arena_copy(&out->arena, module.nvvm, strlen(module.nvvm))
                           : NULL;
    for (uint32_t i = 0; status == RUNG_OK && i < module.n_functions; i++) {
        if (!module.functions[i]->is_entry || module.functions[i]->is_prototype)
            continue;
        struct rung_inspected *inspected = &out->kernels[out->n_kernels++];
        *inspected = (struct rung_inspected){.ptx_target = module.target,
                                             .ptx_target_word = word,
                                             .ptx_version = module.version,
                                             .nvvm = nvvm};
        status = judge_ptx(out, inspected, module.functions[i]);
    }
    rung_ptx_module_release(&module);
    return status;
}

static struct rung_inspected *find(const struct rung_inspection *out, const char *kernel)
{
    for (size_t i = 0; i < out->n_kernels; i++)
        if (strcmp(out->kernels[i].kernel, kernel) == 0)
            return &out->kernels[i];
    return NULL;
}

static bool queue_push(struct queue *queue, const struct waiting *waiting,
                       const struct rung_disasm_job *job)
{
    if (queue->n == queue->room) {
        size_t room = queue->room ? 2 * queue->room : 64;
        void *more = realloc(queue->waiting, room * sizeof *queue->waiting);
        if (!more)
            return false;
        queue->waiting = more;
        more = realloc(queue->jobs, room * sizeof *queue->jobs);
        if (!more)
            return false;
        queue->jobs = more;
        queue->room = room;
    }
    queue->waiting[queue->n] = *waiting;
    queue->jobs[queue->n++] = *job;
    return true;
}

/* The routines behind kernel `k`, copied for as long as the job waits. */
static bool take_routines(struct waiting *waiting, struct rung_inspection *out,
                          const struct rung_cubin *cubin, size_t k)
{
    waiting->routines =
        rung_arena_array(&out->arena, cubin->n_routines + 1, sizeof *waiting->routines);
    if (!waiting->routines)
        return false;
    for (size_t i = 0; i < cubin->n_routines; i++) {
        const struct rung_cubin_routine *routine = &cubin->routines[i];
        if (routine->kernel == k)
            waiting->routines[waiting->n_routines++] =
                (struct rung_sass_routine){routine->name, routine->offset};
    }
    return true;
}

static enum rung_status queue_cubin(struct queue *queue, struct rung_inspection *out,
                                    const struct rung_inspect_input *input,
                                    const struct rung_disasm *disasm, const char *why)
{
    struct rung_cubin cubin = {0};
    enum rung_status status = rung_cubin_read(&cubin, input->cubin, input->cubin_length, &out->err);
    if (status == RUNG_OK && !make_room(out, cubin.n_kernels))
        status = no_memory(out);
    for (size_t k = 0; status == RUNG_OK && k < cubin.n_kernels; k++) {
        const struct rung_cubin_kernel *kernel = &cubin.kernels[k];
        struct rung_inspected *inspected = find(out, kernel->name);
        if (!inspected) {
            inspected = &out->kernels[out->n_kernels++];
            *inspected = (struct rung_inspected){
                .kernel = rung_arena_copy(&out->arena, kernel->name, strlen(kernel->name))};
            if (!inspected->kernel)
                status = no_memory(out);
        }
        inspected->sass_target = cubin.sm;
        inspected->registers = kernel->registers;
        inspected->shared_bytes = kernel->shared_bytes;
        struct waiting waiting = {.inspection = out, .inspected = inspected};
        struct rung_disasm_job job = {
            .sm = cubin.sm, .text = kernel->text, .length = kernel->text_length};
        if (!disasm)
            snprintf(inspected->sass.why, sizeof inspected->sass.why, "%s", why ? why : "");
        else if (status == RUNG_OK &&
                 (!take_routines(&waiting, out, &cubin, k) || !queue_push(queue, &waiting, &job)))
            status = no_memory(out);
    }
    rung_cubin_release(&cubin);
    return status;
}

static void judge_sass(const struct waiting *waiting, const struct rung_disasm_job *job)
{
    struct rung_inspection *out = waiting->inspection;
    struct rung_inspected_side *side = &waiting->inspected->sass;
    if (job->status != RUNG_OK) {
        snprintf(side->why, sizeof side->why, "%.250s", job->err.text);
        return;
    }
    const struct rung_sass_input input = {.name = waiting->inspected->kernel,
                                          .array = job->array,
                                          .first = job->first,
                                          .count = job->count,
                                          .routines = waiting->routines,
                                          .n_routines = waiting->n_routines};
    if (!rung_lower_sass(&side->code, &input, &out->arena) ||
        !rung_verdict_reach(&side->verdict, &side->code, &out->arena)) {
        out->status = no_memory(out);
        return;
    }
    side->present = true;
    rung_disasm_version(out->disassembler, job);
}

void rung_inspect(struct rung_inspection *out, const struct rung_inspect_input *inputs, size_t n,
                  const struct rung_disasm *disasm, const char *disasm_why)
{
    struct queue queue = {0};
    for (size_t i = 0; i < n; i++) {
        out[i] = (struct rung_inspection){0};
        if (inputs[i].ptx)
            out[i].status = read_ptx(&out[i], &inputs[i]);
        if (inputs[i].cubin && out[i].status == RUNG_OK)
            out[i].status = queue_cubin(&queue, &out[i], &inputs[i], disasm, disasm_why);
    }
    if (disasm && queue.n > 0)
        rung_disasm_run(queue.jobs, queue.n, disasm);
    for (size_t i = 0; i < queue.n; i++) {
        judge_sass(&queue.waiting[i], &queue.jobs[i]);
        rung_disasm_job_release(&queue.jobs[i]);
    }
    free(queue.waiting);
    free(queue.jobs);
}

void rung_inspection_release(struct rung_inspection *inspection)
{
    rung_arena_release(&inspection->arena);
    *inspection = (struct rung_inspection){0};
}

enum rung_agreement rung_inspected_agreement(const struct rung_inspected *inspected)
{
    if (!inspected->ptx.present || !inspected->sass.present)
        return RUNG_ONE_SIDED;
    return inspected->ptx.verdict.word == inspected->sass.verdict.word ? RUNG_AGREE : RUNG_DISAGREE;
}

void rung_inspect_image(char word[RUNG_INSPECT_WORD], const struct rung_inspect_input *input,
                        const char *kernel, const struct rung_disasm *disasm)
{
    struct rung_inspect_input wanted = *input;
    if (!disasm && wanted.ptx)
        wanted.cubin = NULL;
    struct rung_inspection inspection;
    rung_inspect(&inspection, &wanted, 1, disasm, NULL);
    const struct rung_inspected *found = kernel                      ? find(&inspection, kernel)
                                         : inspection.n_kernels == 1 ? inspection.kernels
                                                                     : NULL;
    char ptx[24] = "", sass[24] = "";
    if (found && found->ptx.present)
        rung_verdict_short(&found->ptx.verdict, ptx);
    if (found && found->sass.present)
        rung_verdict_short(&found->sass.verdict, sass);
    if (found && rung_inspected_agreement(found) == RUNG_DISAGREE)
        snprintf(word, RUNG_INSPECT_WORD, "%s/%s", ptx, sass);
    else
        snprintf(word, RUNG_INSPECT_WORD, "%s", ptx[0] ? ptx : sass);
    rung_inspection_release(&inspection);
}
