/* What the files of this folder share of an opened NVRTC. Nobody else includes it. */
#ifndef RUNG_NVRTC_INTERNAL_H
#define RUNG_NVRTC_INTERNAL_H

#include <nvrtc.h>

#include "nvrtc/nvrtc.h"

struct rung_nvrtc_api {
#define NVRTC_FN(name, need, parameters) nvrtcResult(*name) parameters;
#include "nvrtc/nvrtc_api.def"
#undef NVRTC_FN
};

struct rung_nvrtc {
    void *library, *builtins;
    struct rung_nvrtc_api api;
    char *path;
    int major, minor;
    char version[16];
    char build[32];
    unsigned targets[RUNG_TARGETS_MAX];
    size_t n_targets;
};

/* Fills the table from an opened library. False: *missing names what it lacks. */
bool rung_nvrtc_bind(struct rung_nvrtc_api *api, void *library, const char **missing);

/* The "CL-<digits>" that NVIDIA's compilers carry, searched in the loaded library. "" if absent. */
void rung_nvrtc_find_build(char build[32], const char *path);

#endif
