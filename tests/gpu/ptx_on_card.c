/* The hand-written cases of tests/ptx on a card: what they expect of the output must hold there
 * too, so that the simulator is held to the hardware. Cases that end in a fault, that read what
 * nobody wrote or that wait for ever are the simulator's alone. Skipped (77) on a machine without a
 * card. Alone: build/tests/ptx_on_card FOLDER */
#include "support/ptx_case.h"

#include <dirent.h>

#include "base/file.h"
#include "driver/driver.h"

struct card {
    struct rung_driver driver;
    CUcontext context;
    CUdeviceptr out, in;
};

static bool open_card(struct card *card)
{
    struct rung_error err = {0};
    int count = 0;
    CUdevice device;
    if (rung_driver_open_cuda(&card->driver, NULL, &err) != RUNG_OK)
        return false;
    const struct rung_driver *d = &card->driver;
    return !d->cuInit(0) && !d->cuDeviceGetCount(&count) && count > 0 &&
           !d->cuDeviceGet(&device, 0) && !d->cuDevicePrimaryCtxRetain(&card->context, device) &&
           !d->cuCtxSetCurrent(card->context) && !d->cuMemAlloc(&card->out, PTX_CASE_OUT_BYTES) &&
           !d->cuMemAlloc(&card->in, PTX_CASE_IN_WORDS * 4);
}

/* One launch; the output in `out`. */
static bool launch(struct card *card, CUfunction function, const char *shape, unsigned char *out)
{
    const struct rung_driver *d = &card->driver;
    unsigned grid = 1, block = 32, dynamic = 0, words[PTX_CASE_IN_WORDS];
    void *params[] = {&card->out, &card->in};
    if (shape)
        sscanf(shape, "%u %u %u", &grid, &block, &dynamic);
    for (unsigned i = 0; i < PTX_CASE_IN_WORDS; i++)
        words[i] = i;
    return !d->cuMemsetD8(card->out, 0xcd, PTX_CASE_OUT_BYTES) &&
           !d->cuMemcpyHtoD(card->in, words, sizeof words) &&
           !d->cuLaunchKernel(function, grid, 1, 1, block, 1, 1, dynamic, NULL, params, NULL) &&
           !d->cuCtxSynchronize() && !d->cuMemcpyDtoH(out, card->out, PTX_CASE_OUT_BYTES);
}

static bool check(const char *name, const char *text, const unsigned char *out)
{
    char line[512];
    bool good = true;
    for (const char *at = text; ptx_case_line(line, &at, "// expect:");)
        if (strchr(line, '['))
            good = ptx_case_check(name, line, out) && good;
    return good;
}

static bool run_case(struct card *card, const char *name, const char *text)
{
    const struct rung_driver *d = &card->driver;
    unsigned char out[PTX_CASE_OUT_BYTES];
    char shape[512];
    CUmodule module = NULL;
    CUfunction function;
    unsigned launches = 0;
    bool good = !d->cuModuleLoadDataEx(&module, text, 0, NULL, NULL) &&
                !d->cuModuleGetFunction(&function, module, "test");
    for (const char *at = text; good && ptx_case_line(shape, &at, "// launch:"); launches++)
        good = launch(card, function, shape, out) && check(name, text, out);
    if (good && !launches)
        good = launch(card, function, NULL, out) && check(name, text, out);
    if (module)
        d->cuModuleUnload(module);
    return good;
}

/* Only what every card must do, and says so in values. */
static bool is_for_cards(const char *name, const char *text)
{
    char line[512];
    bool values = false;
    for (const char *at = text; ptx_case_line(line, &at, "// expect:");)
        values = values || strchr(line, '[');
    return values && !strncmp(name, "ok_", 3) && !strstr(text, "// expect: code") &&
           !strstr(text, "// expect: finding");
}

int main(int argc, char **argv)
{
    struct card card = {0};
    const char *path = argc > 1 ? argv[1] : RUNG_SOURCE_DIR "/tests/ptx";
    unsigned n = 0, wrong = 0;
    if (!open_card(&card)) {
        puts("no card: skipped");
        return 77;
    }
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        struct rung_error err = {0};
        char *file = rung_path_join(path, entry->d_name), *text = NULL;
        size_t length;
        if (strstr(entry->d_name, ".ptx") && !rung_file_read(&text, &length, file, &err) &&
            is_for_cards(entry->d_name, text)) {
            bool good = run_case(&card, entry->d_name, text);
            printf("%-6s %s\n", good ? "ok" : "WRONG", entry->d_name);
            wrong += !good;
            n++;
        }
        free(text);
        free(file);
    }
    if (folder)
        closedir(folder);
    printf("%u cases, %u wrong\n", n, wrong);
    rung_driver_close(&card.driver);
    return wrong || n < 30;
}
