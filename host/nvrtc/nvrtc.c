/* Opening NVRTC: where it is looked for, and what the one that was found can do. */
#define _GNU_SOURCE
#include "nvrtc/nvrtc.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "nvrtc/internal.h"

static const char *const library_names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                            "libnvrtc.so"};
static const char *const library_folders[] = {"", "/lib64", "/lib", "/nvidia/cu13/lib",
                                              "/nvidia/cuda_nvrtc/lib"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A search under way. */
struct search {
    void *handle;
    struct rung_text tried; /* one line for each place that had none */
};

static void *load(struct search *search, const char *name)
{
    /* Local: several releases stand side by side, each with its own names. Never unmapped: NVRTC
     * leaves memory and thread state of its own behind, which a second opening would add to. */
    search->handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (!search->handle)
        rung_text_format(&search->tried, "\n  %s", dlerror());
    return search->handle;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool search_folder(struct search *search, const char *folder)
{
    for (size_t i = 0; i < COUNT(library_folders); i++)
        for (size_t j = 0; j < COUNT(library_names); j++) {
            struct rung_text path = {0};
            rung_text_format(&path, "%s%s/%s", folder, library_folders[i], library_names[j]);
            bool found =
                rung_text_ok(&path) && rung_file_exists(path.data) && load(search, path.data);
            rung_text_release(&path);
            if (found)
                return true;
        }
    rung_text_format(&search->tried, "\n  %s: no libnvrtc.so.* in it", folder);
    return false;
}

static bool search_chosen(struct search *search, const char *path)
{
    if (is_folder(path))
        return search_folder(search, path);
    return load(search, path) != NULL;
}

/* NVIDIA's wheels, where the set-up unpacked them: beside the program, or one folder above it for
 * the programs that the tests are. */
static bool search_beside_program(struct search *search)
{
    char *folder = rung_program_folder();
    bool found = false;
    for (int up = 0; folder && !found && up < 2; up++) {
        struct rung_text path = {0};
        rung_text_format(&path, "%s%s/cuda", folder, up ? "/.." : "");
        if (rung_text_ok(&path) && is_folder(path.data))
            found = search_folder(search, path.data);
        rung_text_release(&path);
    }
    free(folder);
    return found;
}

static bool search_toolkits(struct search *search)
{
    const char *folders[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda",
                             "/opt/cuda"};
    for (size_t i = 0; i < COUNT(folders); i++)
        if (folders[i] && folders[i][0] && is_folder(folders[i]) &&
            search_folder(search, folders[i]))
            return true;
    return false;
}

static bool search_everywhere(struct search *search)
{
    if (search_beside_program(search))
        return true;
    for (size_t i = 0; i + 1 < COUNT(library_names); i++)
        if (load(search, library_names[i]))
            return true;
    return search_toolkits(search);
}

static enum rung_status find_library(void **library, const char *path, struct rung_error *err)
{
    const char *from = "";
    if (!path) {
        path = getenv("RUNG_NVRTC");
        from = " (from RUNG_NVRTC)";
    }
    if (path && !path[0])
        path = NULL;
    struct search search = {0};
    enum rung_status status = RUNG_OK;
    if (path ? !search_chosen(&search, path) : !search_everywhere(&search)) {
        if (path)
            status = rung_fail(err, RUNG_UNABLE, "cannot open NVRTC at %s%s; tried:%s", path, from,
                               rung_text_string(&search.tried));
        else
            status = rung_fail(err, RUNG_UNABLE,
                               "no NVRTC found: install a CUDA toolkit, run tools/setup, or name "
                               "one with --nvrtc PATH or RUNG_NVRTC; tried:%s",
                               rung_text_string(&search.tried));
    }
    rung_text_release(&search.tried);
    *library = search.handle;
    return status;
}

static enum rung_status read_targets(struct rung_nvrtc *nvrtc, struct rung_error *err)
{
    int n = 0;
    int targets[RUNG_TARGETS_MAX];
    if (!nvrtc->api.GetNumSupportedArchs || !nvrtc->api.GetSupportedArchs)
        return rung_fail(err, RUNG_UNABLE,
                         "NVRTC %s (%s) is too old: it cannot list its targets; 11.2 or later is "
                         "needed",
                         nvrtc->version, nvrtc->path);
    if (nvrtc->api.GetNumSupportedArchs(&n) != NVRTC_SUCCESS || n < 1 || n > RUNG_TARGETS_MAX ||
        nvrtc->api.GetSupportedArchs(targets) != NVRTC_SUCCESS)
        return rung_fail(err, RUNG_UNABLE, "NVRTC %s (%s) does not list its targets",
                         nvrtc->version, nvrtc->path);
    for (int i = 0; i < n; i++)
        nvrtc->targets[i] = (unsigned)targets[i];
    nvrtc->n_targets = (size_t)n;
    return RUNG_OK;
}

/* NVRTC asks the loader for its built-ins by their bare name. Having loaded the file beside it
 * first makes that name mean this file, whatever the loader's folders hold. None there: NVRTC will
 * say so when it compiles. */
static void load_builtins(struct rung_nvrtc *nvrtc)
{
    const char *slash = strrchr(nvrtc->path, '/');
    struct rung_text path = {0};
    rung_text_append_bytes(&path, nvrtc->path, slash ? (size_t)(slash - nvrtc->path) : 0);
    rung_text_format(&path, "/libnvrtc-builtins.so.%s", nvrtc->version);
    if (rung_text_ok(&path))
        nvrtc->builtins = dlopen(path.data, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    rung_text_release(&path);
}

static enum rung_status describe(struct rung_nvrtc *nvrtc, struct rung_error *err)
{
    struct link_map *map = NULL;
    if (dlinfo(nvrtc->library, RTLD_DI_LINKMAP, &map) != 0 || !map)
        return rung_fail(err, RUNG_UNABLE, "cannot tell where NVRTC was loaded from: %s",
                         dlerror());
    nvrtc->path = strdup(map->l_name);
    if (!nvrtc->path)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    const char *missing = NULL;
    if (!rung_nvrtc_bind(&nvrtc->api, nvrtc->library, &missing))
        return rung_fail(err, RUNG_UNABLE, "%s is not NVRTC: it has no %s", nvrtc->path, missing);
    if (nvrtc->api.Version(&nvrtc->major, &nvrtc->minor) != NVRTC_SUCCESS)
        return rung_fail(err, RUNG_UNABLE, "NVRTC at %s does not tell its version", nvrtc->path);
    snprintf(nvrtc->version, sizeof nvrtc->version, "%d.%d", nvrtc->major, nvrtc->minor);
    load_builtins(nvrtc);
    rung_nvrtc_find_build(nvrtc->build, nvrtc->path);
    return read_targets(nvrtc, err);
}

enum rung_status rung_nvrtc_open(struct rung_nvrtc **out, const char *path, struct rung_error *err)
{
    *out = NULL;
    struct rung_nvrtc *nvrtc = calloc(1, sizeof *nvrtc);
    if (!nvrtc)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    enum rung_status status = find_library(&nvrtc->library, path, err);
    if (status == RUNG_OK)
        status = describe(nvrtc, err);
    if (status != RUNG_OK) {
        rung_nvrtc_close(nvrtc);
        return status;
    }
    *out = nvrtc;
    return RUNG_OK;
}

void rung_nvrtc_close(struct rung_nvrtc *nvrtc)
{
    if (!nvrtc)
        return;
    if (nvrtc->builtins)
        dlclose(nvrtc->builtins);
    if (nvrtc->library)
        dlclose(nvrtc->library);
    free(nvrtc->path);
    free(nvrtc);
}

const char *rung_nvrtc_path(const struct rung_nvrtc *nvrtc)
{
    return nvrtc->path;
}

const char *rung_nvrtc_version(const struct rung_nvrtc *nvrtc)
{
    return nvrtc->version;
}

const char *rung_nvrtc_build(const struct rung_nvrtc *nvrtc)
{
    return nvrtc->build;
}

const char *rung_nvrtc_lean_option(const struct rung_nvrtc *nvrtc)
{
    bool has = nvrtc->major > 12 || (nvrtc->major == 12 && nvrtc->minor >= 4);
    return has ? "--minimal" : NULL;
}

size_t rung_nvrtc_targets(const struct rung_nvrtc *nvrtc, unsigned targets[RUNG_TARGETS_MAX])
{
    memcpy(targets, nvrtc->targets, nvrtc->n_targets * sizeof targets[0]);
    return nvrtc->n_targets;
}
