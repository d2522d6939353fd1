/* A kernel in the driver: one module loaded from an image, its function, and what the driver says
 * of it. The image is looked at first (image/image.h): a driver may crash on a damaged one. */
#ifndef RUNG_BENCH_MODULE_H
#define RUNG_BENCH_MODULE_H

#include "bench/device.h"
#include "image/image.h"

struct rung_module {
    const struct rung_device *device; /* borrowed: it outlives the kernel */
    CUmodule module;
    CUfunction function;
    char image[8];        /* "cubin" or "ptx": which of the two was loaded */
    unsigned ptx_target;  /* 75: of the PTX that it was compiled from; 0 unknown */
    unsigned sass_target; /* 90: of the code that runs; 0 unknown, and on the simulator */
    int registers, shared_bytes, max_threads;
    double load_ms;      /* of the module, with the driver's compilation where there was one */
    unsigned lowered_to; /* 84: the driver took the PTX as .version 8.4 only; 0: as it was */
};

/* RUNG_IMAGE_AUTO takes the cubin where it runs on the device, else the PTX; a kind that is asked
 * for and cannot be had is RUNG_UNABLE in words. A driver that refuses is RUNG_DRIVER with its own
 * log. PTX that is too new for the driver is loaded as the newest version that the driver takes,
 * where its target and instructions allow that. The simulator executes PTX only. `symbol` is the
 * kernel's name (rung_config_symbol). */
enum rung_status rung_module_load(struct rung_module *out, const struct rung_device *device,
                                  const struct rung_image *image, enum rung_image_kind kind,
                                  const char *symbol, struct rung_error *err);

/* Accepts a zeroed kernel. */
void rung_module_release(struct rung_module *kernel);

#endif
