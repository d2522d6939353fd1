/* The part of CUPTI's range profiler that hardware.c calls: its structures, as the library expects
 * them since CUDA 12.6. Declared here because CUPTI's own host header is C++, and so that the
 * program builds without CUPTI. Every structure begins with its size up to the last field known. */
#ifndef RUNG_SWEEP_CUPTI_H
#define RUNG_SWEEP_CUPTI_H

#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

#define CUPTI_SIZE(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))

enum { CUPTI_OK = 0, CUPTI_NO_PRIVILEGES = 35, CUPTI_NO_PRIVILEGES_VIRTUAL = 40 };
enum { CUPTI_RANGE_PROFILER = 0 }; /* a kind of profiler */
enum { CUPTI_AUTO_RANGE = 1 };     /* one range a launch */
enum { CUPTI_KERNEL_REPLAY = 2 };  /* CUPTI repeats each launch as often as the counters need */

struct cupti_bare { /* cuptiProfilerInitialize, cuptiProfilerDeInitialize */
    size_t size;
    void *priv;
};
struct cupti_chip { /* cuptiDeviceGetChipName */
    size_t size;
    void *priv;
    size_t device;
    const char *name;
};
struct cupti_availability { /* cuptiProfilerGetCounterAvailability */
    size_t size;
    void *priv;
    CUcontext context;
    size_t image_size;
    uint8_t *image;
};
struct cupti_host { /* cuptiProfilerHostInitialize */
    size_t size;
    void *priv;
    int kind;
    const char *chip;
    const uint8_t *availability;
    void *host;
};
struct cupti_host_end { /* cuptiProfilerHostDeinitialize */
    size_t size;
    void *priv;
    void *host;
};
struct cupti_metrics { /* cuptiProfilerHostConfigAddMetrics */
    size_t size;
    void *priv;
    void *host;
    const char **names;
    size_t n;
};
struct cupti_config_size { /* cuptiProfilerHostGetConfigImageSize */
    size_t size;
    void *priv;
    void *host;
    size_t image_size;
};
struct cupti_config { /* cuptiProfilerHostGetConfigImage */
    size_t size;
    void *priv;
    void *host;
    size_t image_size;
    uint8_t *image;
};
struct cupti_values { /* cuptiProfilerHostEvaluateToGpuValues */
    size_t size;
    void *priv;
    void *host;
    const uint8_t *data;
    size_t data_size;
    size_t range;
    const char **names;
    size_t n;
    double *values;
};
struct cupti_enable { /* cuptiRangeProfilerEnable */
    size_t size;
    void *priv;
    CUcontext context;
    void *profiler;
};
struct cupti_profiler { /* cuptiRangeProfilerDisable, cuptiRangeProfilerStart */
    size_t size;
    void *priv;
    void *profiler;
};
struct cupti_stop { /* cuptiRangeProfilerStop */
    size_t size;
    void *priv;
    void *profiler;
    size_t pass;
    size_t nesting;
    uint8_t all_submitted;
};
struct cupti_decode { /* cuptiRangeProfilerDecodeData */
    size_t size;
    void *priv;
    void *profiler;
    size_t dropped;
};
struct cupti_data_size { /* cuptiRangeProfilerGetCounterDataSize */
    size_t size;
    void *priv;
    void *profiler;
    const char **names;
    size_t n;
    size_t ranges;
    uint32_t nodes;
    size_t data_size;
};
struct cupti_data { /* cuptiRangeProfilerCounterDataImageInitialize */
    size_t size;
    void *priv;
    void *profiler;
    size_t data_size;
    uint8_t *data;
};
struct cupti_set { /* cuptiRangeProfilerSetConfig */
    size_t size;
    void *priv;
    void *profiler;
    size_t config_size;
    const uint8_t *config;
    size_t data_size;
    uint8_t *data;
    int range;
    int replay;
    size_t ranges;
    uint16_t nesting_levels;
    uint16_t nesting_least;
    size_t pass;
    uint16_t nesting;
};
struct cupti_info { /* cuptiRangeProfilerGetCounterDataInfo */
    size_t size;
    void *priv;
    const uint8_t *data;
    size_t data_size;
    size_t ranges;
};

#endif
