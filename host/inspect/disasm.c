/* Batches of kernels, one process each, and what they print. Input and output are anonymous files
 * in memory, so that no pipe can fill up and nothing is left behind. */
#define _GNU_SOURCE
#include "inspect/disasm.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define INSTRUCTION_BYTES 16
#define BATCH_BYTES ((size_t)4 << 20) /* of machine code given to one process */
#define OUTPUT_BYTES ((size_t)512 << 20)
#define PROCESS_SECONDS 120
#define PROCESSES_MAX 64

/* Jobs of one target, by index, that share a process. */
struct batch {
    const size_t *jobs;
    size_t n_jobs;
    pid_t pid;
    int output, errors; /* files in memory; -1 none */
};

/* Family members with an `a` know the instructions that only their own card has. */
static void binary_name(char name[16], unsigned sm)
{
    static const unsigned with_a[] = {90, 100, 101, 103, 110, 120, 121};
    const char *suffix = "";
    for (size_t i = 0; i < sizeof with_a / sizeof with_a[0]; i++)
        if (with_a[i] == sm)
            suffix = "a";
    snprintf(name, 16, "SM%u%s", sm, suffix);
}

static int file_in_memory(void)
{
    return memfd_create("rung", MFD_CLOEXEC);
}

static bool write_fully(int fd, const unsigned char *data, size_t length)
{
    while (length > 0) {
        ssize_t put = write(fd, data, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        data += put;
        length -= (size_t)put;
    }
    return true;
}

static char *read_back(int fd, size_t *length)
{
    off_t end = lseek(fd, 0, SEEK_END);
    if (end < 0 || (size_t)end > OUTPUT_BYTES)
        return NULL;
    char *data = malloc((size_t)end + 1);
    size_t have = 0;
    while (data && have < (size_t)end) {
        ssize_t got = pread(fd, data + have, (size_t)end - have, (off_t)have);
        if (got <= 0)
            break;
        have += (size_t)got;
    }
    if (data)
        data[have] = '\0';
    *length = have;
    return data;
}

/* Starts nvdisasm on a file that it finds as its standard input. */
static bool start(struct batch *batch, const struct rung_disasm *disasm, unsigned sm, int input)
{
    char binary[16];
    binary_name(binary, sm);
    char *argv[] = {(char *)disasm->path, "--binary", binary, "--emit-json", "/dev/stdin", NULL};
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    bool ready = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) == 0 &&
                 posix_spawn_file_actions_adddup2(&actions, batch->output, STDOUT_FILENO) == 0 &&
                 posix_spawn_file_actions_adddup2(&actions, batch->errors, STDERR_FILENO) == 0;
    int failed =
        ready ? posix_spawn(&batch->pid, disasm->path, &actions, NULL, argv, environ) : ENOMEM;
    posix_spawn_file_actions_destroy(&actions);
    if (failed) {
        batch->pid = -1;
        return false;
    }
    const struct rlimit seconds = {PROCESS_SECONDS, PROCESS_SECONDS};
    const struct rlimit bytes = {OUTPUT_BYTES, OUTPUT_BYTES};
    prlimit(batch->pid, RLIMIT_CPU, &seconds, NULL);
    prlimit(batch->pid, RLIMIT_FSIZE, &bytes, NULL);
    return true;
}

static void batch_start(struct batch *batch, const struct rung_disasm_job *jobs,
                        const struct rung_disasm *disasm)
{
    batch->pid = -1;
    int input = file_in_memory();
    batch->output = file_in_memory();
    batch->errors = file_in_memory();
    bool ready = input >= 0 && batch->output >= 0 && batch->errors >= 0;
    for (size_t i = 0; ready && i < batch->n_jobs; i++)
        ready = write_fully(input, jobs[batch->jobs[i]].text, jobs[batch->jobs[i]].length);
    if (ready)
        start(batch, disasm, jobs[batch->jobs[0]].sm, input);
    if (input >= 0)
        close(input);
}

/* What the process says on the first line of its errors, for the reader. */
static void explain(struct rung_error *err, const struct batch *batch, int state, unsigned sm,
                    const struct rung_disasm *disasm)
{
    size_t length = 0;
    char *text = batch->errors >= 0 ? read_back(batch->errors, &length) : NULL;
    if (text)
        text[strcspn(text, "\n")] = '\0';
    if (text && strstr(text, "is not defined for option"))
        rung_fail(err, RUNG_UNABLE, "%s does not know sm_%u", disasm->path, sm);
    else if (text && text[0])
        rung_fail(err, RUNG_UNABLE, "%s: %s", disasm->path, text);
    else if (batch->pid >= 0 && WIFSIGNALED(state))
        rung_fail(err, RUNG_UNABLE, "%s was killed by signal %d", disasm->path, WTERMSIG(state));
    else
        rung_fail(err, RUNG_UNABLE, "%s could not be run or printed no JSON", disasm->path);
    free(text);
}

/* The instructions of a document: [header, [{"sass-instructions": [...]}]]. */
static json_t *instructions_of(json_t *document)
{
    json_t *functions = json_array_get(document, 1);
    json_t *array = json_object_get(json_array_get(functions, 0), "sass-instructions");
    return json_is_array(array) ? array : NULL;
}

/* Hands out what a finished process printed. False if it did not serve all of its jobs. */
static bool batch_finish(struct batch *batch, struct rung_disasm_job *jobs,
                         const struct rung_disasm *disasm)
{
    int state = 0;
    while (batch->pid >= 0 && waitpid(batch->pid, &state, 0) < 0 && errno == EINTR)
        ;
    bool ended = batch->pid >= 0 && WIFEXITED(state) && WEXITSTATUS(state) == 0;
    size_t length = 0, expected = 0;
    char *text = ended ? read_back(batch->output, &length) : NULL;
    json_t *document = text ? json_loadb(text, length, 0, NULL) : NULL;
    json_t *array = instructions_of(document);
    free(text);
    for (size_t i = 0; i < batch->n_jobs; i++)
        expected += jobs[batch->jobs[i]].length / INSTRUCTION_BYTES;
    bool served = array && json_array_size(array) == expected;
    size_t first = 0;
    struct rung_error err = {0};
    if (!served)
        explain(&err, batch, state, jobs[batch->jobs[0]].sm, disasm);
    for (size_t i = 0; i < batch->n_jobs; i++) {
        struct rung_disasm_job *job = &jobs[batch->jobs[i]];
        job->status = served ? RUNG_OK : err.status;
        job->err = err;
        job->document = served ? json_incref(document) : NULL;
        job->array = served ? array : NULL;
        job->first = first;
        job->count = job->length / INSTRUCTION_BYTES;
        first += job->count;
    }
    json_decref(document);
    if (batch->output >= 0)
        close(batch->output);
    if (batch->errors >= 0)
        close(batch->errors);
    return served;
}

static size_t processes(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > PROCESSES_MAX ? PROCESSES_MAX : (size_t)cores;
}

/* Runs batches, as many at a time as there are cores. Jobs of a batch that failed are run again
 * alone, so that a damaged kernel takes no other with it. */
static void run_batches(struct batch *batches, size_t n_batches, struct rung_disasm_job *jobs,
                        const struct rung_disasm *disasm)
{
    size_t at_once = processes(), started = 0;
    for (size_t finished = 0; finished < n_batches; finished++) {
        while (started < n_batches && started < finished + at_once)
            batch_start(&batches[started++], jobs, disasm);
        struct batch *batch = &batches[finished];
        if (batch_finish(batch, jobs, disasm) || batch->n_jobs == 1)
            continue;
        for (size_t i = 0; i < batch->n_jobs; i++) {
            struct batch alone = {.jobs = &batch->jobs[i], .n_jobs = 1};
            batch_start(&alone, jobs, disasm);
            batch_finish(&alone, jobs, disasm);
        }
    }
}

/* Splits the jobs that can be run into batches of one target; `order` lists them by batch. */
static size_t make_batches(struct batch *batches, size_t *order, struct rung_disasm_job *jobs,
                           size_t n_jobs)
{
    size_t n_batches = 0, n_ordered = 0;
    for (size_t i = 0; i < n_jobs; i++) {
        bool first_of_target = jobs[i].status == RUNG_OK;
        for (size_t j = 0; j < i; j++)
            if (jobs[j].status == RUNG_OK && jobs[j].sm == jobs[i].sm)
                first_of_target = false;
        if (!first_of_target)
            continue;
        size_t bytes = BATCH_BYTES;
        for (size_t j = i; j < n_jobs; j++) {
            if (jobs[j].status != RUNG_OK || jobs[j].sm != jobs[i].sm)
                continue;
            if (bytes >= BATCH_BYTES) {
                batches[n_batches++] = (struct batch){.jobs = &order[n_ordered]};
                bytes = 0;
            }
            order[n_ordered++] = j;
            batches[n_batches - 1].n_jobs++;
            bytes += jobs[j].length;
        }
    }
    return n_batches;
}

void rung_disasm_run(struct rung_disasm_job *jobs, size_t n_jobs, const struct rung_disasm *disasm)
{
    struct batch *batches = calloc(n_jobs + 1, sizeof *batches);
    size_t *order = calloc(n_jobs + 1, sizeof *order);
    for (size_t i = 0; i < n_jobs; i++) {
        struct rung_disasm_job *job = &jobs[i];
        job->document = job->array = NULL;
        job->err = (struct rung_error){0};
        job->status = RUNG_OK;
        if (!batches || !order)
            job->status = rung_fail(&job->err, RUNG_MEMORY, "out of memory");
        else if (job->length == 0 || job->length % INSTRUCTION_BYTES != 0)
            job->status = rung_fail(&job->err, RUNG_USAGE,
                                    "%zu bytes of machine code are no whole number of instructions "
                                    "of 16 bytes",
                                    job->length);
    }
    if (batches && order)
        run_batches(batches, make_batches(batches, order, jobs, n_jobs), jobs, disasm);
    free(batches);
    free(order);
}

void rung_disasm_job_release(struct rung_disasm_job *job)
{
    json_decref(job->document);
    *job = (struct rung_disasm_job){0};
}

void rung_disasm_version(char version[32], const struct rung_disasm_job *job)
{
    const char *producer =
        json_string_value(json_object_get(json_array_get(job->document, 0), "Producer"));
    const char *start = producer ? strstr(producer, " V") : NULL;
    snprintf(version, 32, "%.*s", start ? (int)strcspn(start + 2, " ") : 0, start ? start + 2 : "");
}
