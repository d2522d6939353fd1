/* What a program that knows nothing of the simulator can still be told, through variables:
 *   RUNG_SIM_CHECK=1    make findings: races, barriers, bounds, uninitialised reads
 *   RUNG_SIM_STRICT=1   and let a finding fail its launch
 *   RUNG_SIM_SEED=N     run warps and blocks in an adversarial order
 *   RUNG_SIM_REPORT=F   write counts and findings to F when the program ends; "-" is stderr
 * A driver has no call for any of it, so that this file works before main and after it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/dropin/dropin.h"

#define FINDINGS_SHOWN 100

static bool is_on(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value && strcmp(value, "0") != 0;
}

static void write_counts(FILE *file, const struct rung_sim_counters *counters)
{
    const struct {
        const char *name;
        uint64_t count;
    } rows[] = {
        {"launches",                 counters->launches               },
        {"blocks",                   counters->blocks                 },
        {"warps",                    counters->warps                  },
        {"warp instructions",        counters->warp_instructions      },
        {"thread instructions",      counters->thread_instructions    },
        {"divergent branches",       counters->divergent_branches     },
        {"barrier arrivals (warps)", counters->block_barriers         },
        {"shared loads (warps)",     counters->shared_load            },
        {"  wavefronts",             counters->shared_load_wavefronts },
        {"  by conflicts",           counters->shared_load_conflicts  },
        {"shared stores (warps)",    counters->shared_store           },
        {"  wavefronts",             counters->shared_store_wavefronts},
        {"  by conflicts",           counters->shared_store_conflicts },
        {"global load sectors",      counters->global_load_sectors    },
        {"global store sectors",     counters->global_store_sectors   },
        {"shuffles (warps)",         counters->shuffle                },
        {"atomics (warps)",          counters->atomic                 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        fprintf(file, "%-26s %14" PRIu64 "\n", rows[i].name, rows[i].count);
}

static void write_findings(FILE *file)
{
    static struct rung_sim_finding findings[FINDINGS_SHOWN];
    struct rung_driver driver;
    rung_driver_open_sim(&driver);
    uint64_t total = driver.sim->read_findings(findings, FINDINGS_SHOWN);
    fprintf(file, "%-26s %14" PRIu64 "\n", "findings", total);
    for (uint64_t i = 0; i < total && i < FINDINGS_SHOWN; i++)
        fprintf(file, "  %s\n", findings[i].text);
    if (total > FINDINGS_SHOWN)
        fprintf(file, "  and %" PRIu64 " more\n", total - FINDINGS_SHOWN);
}

static void write_fault(FILE *file)
{
    char fault[256];
    struct rung_driver driver;
    rung_driver_open_sim(&driver);
    driver.explain(fault);
    if (fault[0])
        fprintf(file, "a kernel failed: %s\n", fault);
}

static void write_report(void)
{
    const char *path = getenv("RUNG_SIM_REPORT");
    if (!path || !*path)
        return;
    FILE *file = strcmp(path, "-") == 0 ? stderr : fopen(path, "w");
    if (!file)
        return;
    struct rung_driver driver;
    struct rung_sim_counters counters;
    struct rung_sim_options options;
    rung_driver_open_sim(&driver);
    driver.sim->read_counters(&counters);
    driver.sim->get_options(&options);
    fprintf(file, "%s\n", RUNG_SIM_NAME);
    write_counts(file, &counters);
    if (options.check)
        write_findings(file);
    write_fault(file);
    if (file != stderr)
        fclose(file);
}

/* Before main: nobody else will say what to check. */
__attribute__((constructor)) static void begin(void)
{
    const char *seed = getenv("RUNG_SIM_SEED");
    struct rung_driver driver;
    struct rung_sim_options options;
    rung_driver_open_sim(&driver);
    driver.sim->get_options(&options);
    options.check = is_on("RUNG_SIM_CHECK") || is_on("RUNG_SIM_STRICT");
    options.strict = is_on("RUNG_SIM_STRICT");
    options.seed = seed ? strtoull(seed, NULL, 10) : 0;
    driver.sim->set_options(&options);
}

/* After main, or when the library is closed. */
__attribute__((destructor)) static void end(void)
{
    write_report();
    rung_sim_process_end();
}
