/* Looking for everything that this program can use, and saying what each part gives. */
#define _GNU_SOURCE
#include "cli/doctor.h"

#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/program.h"
#include "base/text.h"
#include "bench/device.h"
#include "image/folder.h"
#include "image/ptx_text.h"
#include "image/ptxas.h"
#include "inspect/disasm.h"
#include "nvrtc/cache.h"
#include "nvrtc/nvrtc.h"

const char *rung_finding_word(enum rung_finding_state state)
{
    static const char *const words[] = {"ok", "note", "missing"};
    return words[state];
}

static void add(struct rung_findings *findings, const char *part, enum rung_finding_state state,
                const char *provided_by, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static void add(struct rung_findings *findings, const char *part, enum rung_finding_state state,
                const char *provided_by, const char *format, ...)
{
    char *found = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&found, format, args) < 0)
        found = NULL;
    va_end(args);
    if (!found || findings->count == sizeof findings->list / sizeof findings->list[0]) {
        findings->failed = true;
        free(found);
        return;
    }
    findings->list[findings->count++] = (struct rung_finding){part, state, found, provided_by};
}

static void look_at_simulator(struct rung_findings *findings, bool has_ptx)
{
    findings->simulates = has_ptx;
    add(findings, "simulator", has_ptx ? RUNG_FINDING_OK : RUNG_FINDING_MISSING,
        has_ptx ? NULL : "NVRTC, or a folder of images",
        has_ptx ? "built in: executes PTX without a card, counts, takes no times"
                : "built in, but there is no PTX to execute: neither NVRTC nor images");
}

/* Returns the newest PTX version that the driver takes, 0 without a driver. */
static unsigned look_at_driver(struct rung_findings *findings, const char *path)
{
    struct rung_survey survey;
    rung_device_survey(&survey, path);
    unsigned ptx = rung_ptx_of_driver(survey.driver_version);
    if (!survey.path[0]) {
        add(findings, "driver", RUNG_FINDING_MISSING, "NVIDIA's driver and a card", "%s",
            survey.why);
        return 0;
    }
    add(findings, "driver", RUNG_FINDING_OK, NULL, "CUDA %d.%d, PTX up to %u.%u, %s",
        survey.driver_version / 1000, survey.driver_version % 1000 / 10, ptx / 10, ptx % 10,
        survey.path);
    int shown = survey.n_cards < RUNG_SURVEY_CARDS ? survey.n_cards : RUNG_SURVEY_CARDS;
    for (int i = 0; i < shown; i++)
        add(findings, "card", RUNG_FINDING_OK, NULL, "cuda:%d, %s, sm_%u, %d SMs, %.1f GiB", i,
            survey.cards[i].name, survey.cards[i].cc, survey.cards[i].sm_count,
            (double)survey.cards[i].memory_bytes / (1 << 30));
    findings->times = survey.why[0] == '\0' && survey.n_cards > 0;
    if (!findings->times)
        add(findings, "card", RUNG_FINDING_MISSING,
            "an NVIDIA card of compute capability 7.5 or up", "%s",
            survey.why[0] ? survey.why : "the driver shows none");
    return ptx;
}

/* The PTX version that this NVRTC writes, from a kernel that does nothing; 0 if it cannot. */
static unsigned ptx_of_nvrtc(const struct rung_nvrtc *nvrtc, struct rung_error *err)
{
    unsigned targets[RUNG_TARGETS_MAX];
    char target[24];
    size_t n = rung_nvrtc_targets(nvrtc, targets);
    struct rung_compiled compiled = {0};
    struct rung_ptx_head head = {0};
    snprintf(target, sizeof target, "compute_%u", targets[n - 1]);
    struct rung_compile_job job = {
        .source = "extern \"C\" __global__ void k() {}\n", .name = "doctor.cu", .target = target};
    if (rung_nvrtc_compile(&compiled, nvrtc, &job, err) == RUNG_OK)
        rung_ptx_read_head(&head, compiled.ptx, compiled.ptx_length);
    rung_compiled_release(&compiled);
    return head.version;
}

static void look_at_nvrtc(struct rung_findings *findings, const char *path, unsigned driver_ptx)
{
    static const char provided_by[] = "a CUDA toolkit, or tools/setup";
    struct rung_nvrtc *nvrtc = NULL;
    struct rung_error err = {0};
    struct rung_text list = {0};
    if (rung_nvrtc_open(&nvrtc, path, &err) != RUNG_OK) {
        add(findings, "nvrtc", RUNG_FINDING_MISSING, provided_by, "%s", err.text);
        return;
    }
    unsigned targets[RUNG_TARGETS_MAX];
    size_t n = rung_nvrtc_targets(nvrtc, targets);
    for (size_t i = 0; i < n; i++)
        rung_text_format(&list, " %u", targets[i]);
    unsigned ptx = ptx_of_nvrtc(nvrtc, &err);
    findings->compiles = ptx != 0;
    if (ptx == 0)
        add(findings, "nvrtc", RUNG_FINDING_MISSING, provided_by, "%s", err.text);
    else
        add(findings, "nvrtc", RUNG_FINDING_OK, NULL, "%s (%s), writes PTX %u.%u, targets%s, %s",
            rung_nvrtc_version(nvrtc), rung_nvrtc_build(nvrtc), ptx / 10, ptx % 10,
            rung_text_string(&list), rung_nvrtc_path(nvrtc));
    if (driver_ptx && ptx > driver_ptx)
        add(findings, "nvrtc", RUNG_FINDING_NOTE, "a newer driver",
            "newer than the driver, which takes PTX up to %u.%u: cubins load, and PTX is lowered",
            driver_ptx / 10, driver_ptx % 10);
    rung_text_release(&list);
    rung_nvrtc_close(nvrtc);
}

static void look_for_program(struct rung_findings *findings, const char *part, char *path,
                             const char *gives, const char *provided_by)
{
    if (path)
        add(findings, part, RUNG_FINDING_OK, NULL, "%s", path);
    else
        add(findings, part, RUNG_FINDING_MISSING, provided_by, "not found: %s", gives);
    free(path);
}

/* Libraries that are only looked for here: opened, asked where they are, and left loaded, for they
 * do not give back what they take when they are opened. */
static void look_for_library(struct rung_findings *findings, const char *part,
                             const char *const *names, const char *gives, const char *provided_by)
{
    void *library = NULL;
    struct link_map *map = NULL;
    while (*names && !library)
        library = dlopen(*names++, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
        add(findings, part, RUNG_FINDING_OK, NULL, "%s", map->l_name);
    else
        add(findings, part, RUNG_FINDING_MISSING, provided_by, "not found: %s", gives);
    if (library)
        dlclose(library);
}

static void look_at_cache(struct rung_findings *findings)
{
    struct rung_cache *cache = NULL;
    struct rung_cache_usage usage;
    char why[256];
    rung_cache_open(&cache, NULL, why);
    if (!cache) {
        add(findings, "cache", RUNG_FINDING_NOTE, "a folder named by RUNG_CACHE_DIR",
            "none: %s; every run compiles again", why);
        return;
    }
    rung_cache_inspect(&usage, cache, NULL);
    add(findings, "cache", why[0] ? RUNG_FINDING_NOTE : RUNG_FINDING_OK, NULL,
        "%s, %llu entries, %.1f MiB%s%s", rung_cache_folder(cache),
        (unsigned long long)usage.entries, (double)usage.bytes / (1 << 20), why[0] ? "; " : "",
        why);
    rung_cache_close(cache);
}

/* Whether there is a folder that holds images. */
static bool look_at_images(struct rung_findings *findings)
{
    struct rung_image_folders folders;
    bool any = false;
    if (rung_image_folders_open(&folders, NULL) != RUNG_OK) {
        findings->failed = true;
        return false;
    }
    for (size_t i = 0; i < folders.count; i++) {
        const struct rung_image_folder *folder = &folders.list[i];
        struct rung_text targets = {0};
        for (size_t t = folder->n_targets; t > 0; t--)
            rung_text_format(&targets, " sm_%u", folder->targets[t - 1]);
        any = any || folder->n_targets > 0;
        add(findings, "images", RUNG_FINDING_OK, NULL, "%s:%s", folder->path,
            folder->n_targets ? rung_text_string(&targets) : " none");
        rung_text_release(&targets);
    }
    rung_image_folders_close(&folders);
    if (!any)
        add(findings, "images", RUNG_FINDING_NOTE, "rung build, or a build with RUNG_TARGETS",
            "none made ahead of time: kernels are compiled when they are first needed");
    return any;
}

static void look_for_nvdisasm(struct rung_findings *findings)
{
    struct rung_disasm disasm;
    struct rung_error err = {0};
    findings->disassembles = rung_disasm_find(&disasm, NULL, &err) == RUNG_OK;
    if (findings->disassembles)
        add(findings, "nvdisasm", RUNG_FINDING_OK, NULL, "%s", disasm.path);
    else
        add(findings, "nvdisasm", RUNG_FINDING_MISSING, "a CUDA toolkit, or tools/setup",
            "inspect gives verdicts from PTX alone: %s", err.text);
}

void rung_findings_collect(struct rung_findings *out, const char *nvrtc_path,
                           const char *driver_path)
{
    static const char *const cupti[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so", NULL};
    static const char *const nvml[] = {"libnvidia-ml.so.1", NULL};
    *out = (struct rung_findings){0};
    unsigned driver_ptx = look_at_driver(out, driver_path);
    look_at_nvrtc(out, nvrtc_path, driver_ptx);
    bool images = look_at_images(out);
    look_at_simulator(out, out->compiles || images);
    look_for_nvdisasm(out);
    look_for_program(out, "ptxas", rung_ptxas_find(), "lowered PTX is not proven to assemble",
                     "a CUDA toolkit, or tools/setup");
    look_at_cache(out);
    look_for_program(out, "gnuplot", rung_program_find("gnuplot", NULL, 0), "report draws no plots",
                     "the package gnuplot-nox");
    look_for_library(out, "nvml", nvml, "clocks and temperature are not recorded",
                     "NVIDIA's driver");
    look_for_library(out, "cupti", cupti, "no hardware counters beside the model",
                     "a CUDA toolkit");
}

void rung_findings_release(struct rung_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        free(findings->list[i].found);
    *findings = (struct rung_findings){0};
}
