/* The NVRTC library as a loaded object: its table of functions and its build number. */
#define _GNU_SOURCE
#include "nvrtc/internal.h"

#include <ctype.h>
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

enum need { OPTIONAL, REQUIRED };

bool rung_nvrtc_bind(struct rung_nvrtc_api *api, void *library, const char **missing)
{
    void *symbol;
/* POSIX promises that dlsym's result converts to a function pointer; C has no cast for it. */
#define NVRTC_FN(name, need, parameters)                                                           \
    symbol = dlsym(library, "nvrtc" #name);                                                        \
    memcpy(&api->name, &symbol, sizeof symbol);                                                    \
    if (!symbol && need == REQUIRED) {                                                             \
        *missing = "nvrtc" #name;                                                                  \
        return false;                                                                              \
    }
#include "nvrtc/nvrtc_api.def"
#undef NVRTC_FN
    return true;
}

/* The digits after "CL-" in `length` bytes; false if there are none. Six digits or more: the text
 * "CL-" alone occurs in other strings. Found by its '-', which memchr passes over ten times as fast
 * as memmem does over the three. */
static bool scan(char build[32], const char *bytes, size_t length)
{
    const char *end = bytes + length;
    for (const char *at = bytes; (at = memchr(at, '-', (size_t)(end - at))); at++) {
        if (at - bytes < 2 || at[-1] != 'L' || at[-2] != 'C')
            continue;
        size_t digits = 1;
        while (at + digits < end && digits < 28 && isdigit((unsigned char)at[digits]))
            digits++;
        if (digits < 7)
            continue;
        memcpy(build, at - 2, digits + 2);
        build[digits + 2] = '\0';
        return true;
    }
    return false;
}

struct scan_request {
    const char *path;
    char *build;
};

static int scan_object(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct scan_request *request = data;
    if (strcmp(info->dlpi_name, request->path) != 0)
        return 0;
    /* Read-only data first: where the linker made such a segment, the text is in it. */
    for (int executable = 0; executable < 2; executable++)
        for (int i = 0; i < info->dlpi_phnum; i++) {
            const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
            if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) ||
                !!(segment->p_flags & PF_X) != executable)
                continue;
            uintptr_t start = (uintptr_t)(info->dlpi_addr + segment->p_vaddr);
            if (scan(request->build, (const char *)start, segment->p_filesz))
                return 1;
        }
    return 1;
}

void rung_nvrtc_find_build(char build[32], const char *path)
{
    build[0] = '\0';
    dl_iterate_phdr(scan_object, &(struct scan_request){path, build});
}
