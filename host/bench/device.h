/* A device that is open for work: driver, primary context, one stream, and what it says of itself.
 * The same for a card and for the simulator. Also a look at every card without opening one. */
#ifndef RUNG_BENCH_DEVICE_H
#define RUNG_BENCH_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/driver.h"

struct rung_device {
    struct rung_driver driver;
    CUdevice handle;
    CUcontext context;
    CUstream stream; /* ordered with the synchronous copies and sets, which use the legacy stream */
    int ordinal;
    char name[128];
    char uuid[48];      /* "GPU-…", "" if unknown */
    unsigned cc;        /* 90 for compute capability 9.0 */
    int driver_version; /* 13000 */
    int sm_count;
    int warp_size;
    int max_threads_per_block;
    uint64_t max_grid_x;
    uint64_t shared_bytes_per_block;
    uint64_t l2_bytes;
    uint64_t memory_bytes;
};

/* `word`: "auto", "cuda", "cuda:K" or "sim"; anything else is RUNG_USAGE. "auto" takes the first
 * card, else the simulator, and then `why` says in one line why not a card ("" otherwise); `why`
 * may be NULL. `driver_path` may be NULL: the driver of the machine. On failure nothing is held,
 * and `out` can be closed all the same. */
enum rung_status rung_device_open(struct rung_device *out, const char *word,
                                  const char *driver_path, char why[512], struct rung_error *err);

/* Over a driver table that the caller made (tests). Takes it over, on failure too. */
enum rung_status rung_device_open_with(struct rung_device *out, const struct rung_driver *driver,
                                       int ordinal, struct rung_error *err);

/* Releases stream, context and driver, whatever state they are in. Accepts a zeroed device. */
void rung_device_close(struct rung_device *device);

/* Whether the simulator's checks are on. They know the bounds of memory to the byte, which guards
 * round it would hide. */
bool rung_device_checks(const struct rung_device *device);

#define RUNG_SURVEY_CARDS 16

/* What the driver of this machine has to offer, found without making a context. The simulator's
 * drop-in library has no cards. */
struct rung_survey {
    char path[512];     /* the library that was opened, "" if none */
    int driver_version; /* 13000; 0 if unknown */
    int n_cards;        /* those that the driver shows; only the first 16 are described */
    struct rung_card {
        char name[128];
        char uuid[48];
        char pci[24];
        unsigned cc;
        int sm_count;
        uint64_t memory_bytes;
    } cards[RUNG_SURVEY_CARDS];
    char why[512]; /* one line: why no card can be used; "" if one can */
};
void rung_device_survey(struct rung_survey *out, const char *driver_path);
/* Over a driver table that the caller made and keeps (tests). */
void rung_device_survey_with(struct rung_survey *out, const struct rung_driver *driver);

#endif
