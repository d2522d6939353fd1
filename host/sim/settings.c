/* The simulated device's settings: the table of architectures, and two environment variables. */
#define _GNU_SOURCE /* sysconf */
#include "sim/settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

static const struct rung_sim_target targets[] = {
#define SIM_TARGET(cc, threads, blocks, shared, optin)                                             \
    {cc, threads, blocks, (shared)*1024, (optin)*1024, (cc) >= 80 ? 1024 : 0},
#include "sim/targets.def"
#undef SIM_TARGET
};

#define N_TARGETS (sizeof targets / sizeof targets[0])

static const struct rung_sim_target *find(unsigned cc)
{
    for (size_t i = 0; i < N_TARGETS; i++)
        if (targets[i].cc == cc)
            return &targets[i];
    return NULL;
}

static enum rung_status refuse_cc(const char *value, struct rung_error *err)
{
    struct rung_text list = {0};
    for (size_t i = 0; i < N_TARGETS; i++)
        rung_text_format(&list, "%s%u", list.length ? ", " : "", targets[i].cc);
    enum rung_status status = rung_fail(
        err, RUNG_USAGE, "RUNG_SIM_CC='%s': the simulated compute capability is one of %s", value,
        rung_text_string(&list));
    rung_text_release(&list);
    return status;
}

/* "121" and "12.1" are the same. */
static unsigned parse_cc(const char *value)
{
    char *end = NULL;
    unsigned long major = strtoul(value, &end, 10);
    if (end == value || value[0] < '0' || value[0] > '9' || major > 1000)
        return 0;
    if (*end == '\0')
        return (unsigned)major;
    if (end[0] != '.' || end[1] < '0' || end[1] > '9' || end[2] != '\0')
        return 0;
    return (unsigned)major * 10 + (unsigned)(end[1] - '0');
}

/* Bytes, with Ki, Mi or Gi behind the digits; 0 for anything else. */
static uint64_t parse_bytes(const char *value)
{
    static const struct {
        const char *suffix;
        unsigned shift;
    } suffixes[] = {
        {"",   0 },
        {"Ki", 10},
        {"Mi", 20},
        {"Gi", 30}
    };
    char *end = NULL;
    unsigned long long number = strtoull(value, &end, 10);
    if (end == value || value[0] < '0' || value[0] > '9' || number >> 40)
        return 0;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (strcmp(end, suffixes[i].suffix) == 0 && number <= UINT64_MAX >> (suffixes[i].shift + 8))
            return (uint64_t)number << suffixes[i].shift;
    return 0;
}

static uint64_t half_of_host_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 2 : (uint64_t)1 << 30;
}

enum rung_status rung_sim_settings_read(struct rung_sim_settings *out, struct rung_error *err)
{
    *out = (struct rung_sim_settings){find(RUNG_SIM_CC_DEFAULT), half_of_host_memory()};
    const char *cc = getenv("RUNG_SIM_CC"), *memory = getenv("RUNG_SIM_MEMORY");
    if (cc && *cc) {
        out->target = find(parse_cc(cc));
        if (!out->target)
            return refuse_cc(cc, err);
    }
    if (memory && *memory) {
        out->memory_bytes = parse_bytes(memory);
        if (out->memory_bytes == 0)
            return rung_fail(err, RUNG_USAGE,
                             "RUNG_SIM_MEMORY='%s': the simulated memory is a number of bytes, "
                             "with Ki, Mi or Gi behind it (512Mi)",
                             memory);
    }
    return RUNG_OK;
}
