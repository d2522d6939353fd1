/* What the simulator keeps between Driver API calls, and the shape of every such call:
 *
 *     struct rung_sim_context *context;
 *     CUresult code = rung_sim_enter(&context);
 *     if (code == CUDA_SUCCESS)
 *         ... the work, under the lock ...
 *     return rung_sim_leave(code);
 *
 * One lock covers everything, launches included: calls of several host threads take turns. Handles
 * are numbers that no host can dereference, looked up in a table, so that a stale or foreign one
 * is an answer and not a crash. Used by the built-in front (driver_sim_*.c) and by the drop-in
 * library (dropin/). */
#ifndef RUNG_SIM_DRIVER_STATE_H
#define RUNG_SIM_DRIVER_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/machine.h"
#include "sim/settings.h"

/* The functions of the table: CUresult rung_sim_cuInit(unsigned int flags), and so on. */
#define CU_FN(name, abi, kind, parameters, arguments) CUresult rung_sim_##name parameters;
#include "driver/driver_api.def"
#undef CU_FN

enum rung_sim_handle_kind {
    RUNG_SIM_HANDLE_CONTEXT,
    RUNG_SIM_HANDLE_MODULE,
    RUNG_SIM_HANDLE_FUNCTION, /* released with its module */
    RUNG_SIM_HANDLE_STREAM,
    RUNG_SIM_HANDLE_EVENT,
    RUNG_SIM_HANDLE_GRAPH,
    RUNG_SIM_HANDLE_GRAPH_EXEC,
    RUNG_SIM_HANDLE_KINDS
};

/* What begins every object that a handle stands for. */
struct rung_sim_object {
    enum rung_sim_handle_kind kind;
    struct rung_sim_context *owner; /* NULL for contexts */
    void *handle;
};

/* Gives `object` its handle and makes it live. False when out of memory. */
bool rung_sim_object_add(struct rung_sim_object *object, enum rung_sim_handle_kind kind,
                         struct rung_sim_context *owner);
/* The live object of that kind behind a handle, NULL if there is none. */
void *rung_sim_object_of(enum rung_sim_handle_kind kind, const void *handle);
/* The handle is dead from now on. The object is the caller's to free. */
void rung_sim_object_remove(struct rung_sim_object *object);
void rung_sim_objects_forget(void); /* the table itself, once nothing is live */
/* The next live object of a context after `*cursor` (from 0), NULL at the end. */
void *rung_sim_object_next(const struct rung_sim_context *owner, size_t *cursor);
uint64_t rung_sim_objects_live(enum rung_sim_handle_kind kind);

struct rung_sim_stream {
    struct rung_sim_object object;
    unsigned flags;
    int priority;
    struct rung_sim_graph *capture; /* what is recorded instead of run, NULL if nothing */
};

struct rung_sim_context {
    struct rung_sim_object object;
    bool is_primary;
    unsigned retained; /* of the primary context; of another, attached (from 0) */
    unsigned flags;
    CUresult dead; /* what killed it; every later call on it returns this */
    struct rung_sim_stream null_stream;
};

struct rung_sim_module {
    struct rung_sim_object object;
    struct rung_sim_program *program;
};

struct rung_sim_function {
    struct rung_sim_object object;
    struct rung_sim_module *module;
    const struct rung_sim_kernel *kernel;
    struct rung_sim_kernel_facts facts;
    uint64_t dynamic_bytes_max; /* what cuFuncSetAttribute allowed */
    int carveout;               /* as set; changes nothing here */
    struct {                    /* of a launch that is prepared call by call (dropin/legacy.c) */
        uint32_t block[3];
        unsigned dynamic_bytes;
        unsigned param_bytes;
        unsigned char params[4096];
    } legacy;
};

struct rung_sim_stamp { /* a CUevent */
    struct rung_sim_object object;
    unsigned flags;
    bool recorded;
    uint64_t clock; /* of the simulator, when it was recorded */
};

/* One process, one simulated device. */
struct rung_sim_process {
    bool initialised;
    struct rung_sim_settings settings;
    struct rung_sim_memory memory;
    uint64_t memory_used;             /* device bytes, host memory aside */
    struct rung_sim_context *primary; /* NULL while nobody retains it */
    unsigned primary_flags;
    struct rung_sim_options options;
    struct rung_sim_counters counters;
    struct rung_sim_findings findings;
    uint64_t clock;  /* warp instructions and bytes moved so far: grows, is no time */
    uint64_t leaked; /* handles and allocations that a dying context still held */
    char fault[256]; /* why the last kernel failed, in words */
};
extern struct rung_sim_process rung_sim_process;

/* Ends every context and forgets everything: the library is unloaded, or the process ends. Later
 * calls find a driver that is not initialised. */
void rung_sim_process_end(void);

void rung_sim_lock(void);
void rung_sim_unlock(void);
/* All of these take the lock, whatever they return; rung_sim_leave gives it back. */
CUresult rung_sim_enter_driver(void);                       /* 3 before cuInit */
CUresult rung_sim_enter(struct rung_sim_context **context); /* and 201, and the dead's code */
CUresult rung_sim_enter_release(struct rung_sim_context **context); /* the dead release, too */
/* The driver, a device that exists, and somewhere to put the answer: 3, 101, 1. */
CUresult rung_sim_enter_device(CUdevice device, const void *out);
CUresult rung_sim_leave(CUresult code);

/* The contexts of this host thread, as a stack; what is current is its top. */
struct rung_sim_context *rung_sim_context_current(void);
bool rung_sim_context_push(struct rung_sim_context *context);
struct rung_sim_context *rung_sim_context_pop(void);
void rung_sim_context_set(struct rung_sim_context *context);

/* Makes a context; NULL when out of memory. Ending one frees everything it owns, and counts it. */
struct rung_sim_context *rung_sim_context_new(unsigned flags);
void rung_sim_context_end(struct rung_sim_context *context);

/* The stream behind a handle of this context: NULL, the legacy and the per-thread handle are its
 * null stream. NULL for a handle that is none. */
struct rung_sim_stream *rung_sim_stream_of(struct rung_sim_context *context, CUstream handle);
CUresult rung_sim_stream_new(struct rung_sim_context *context, CUstream *out, unsigned flags,
                             int priority);
CUresult rung_sim_stream_end(struct rung_sim_stream *stream);

/* Device and mapped host memory. Kinds are told apart, so that each is freed by its own call. */
enum rung_sim_memory_kind { RUNG_SIM_DEVICE_MEMORY, RUNG_SIM_HOST_MEMORY, RUNG_SIM_LENT_MEMORY };
CUresult rung_sim_memory_take(struct rung_sim_context *owner, enum rung_sim_memory_kind kind,
                              uint64_t bytes, void *lent, uint64_t *address, void **host);
bool rung_sim_memory_give(enum rung_sim_memory_kind kind, uint64_t address);
uint64_t rung_sim_memory_device_of(const void *host); /* 0 unless it is mapped host memory */
bool rung_sim_memory_is_host(uint64_t address); /* mapped host memory, by its device address */
uint64_t rung_sim_memory_give_all(const struct rung_sim_context *owner); /* how many there were */
uint64_t rung_sim_memory_live(void);
void rung_sim_memory_forget(void); /* all of it */
/* A whole call: gives memory back by its host address. */
CUresult rung_sim_memory_give_host(enum rung_sim_memory_kind kind, const void *host);

/* Work that a stream does: run at once, or recorded while the stream is captured. */
struct rung_sim_work {
    enum rung_sim_work_kind {
        RUNG_SIM_WORK_LAUNCH,
        RUNG_SIM_WORK_COPY_TO_DEVICE,
        RUNG_SIM_WORK_COPY_TO_HOST,
        RUNG_SIM_WORK_COPY_ON_DEVICE,
        RUNG_SIM_WORK_SET,
        RUNG_SIM_WORK_RECORD
    } kind;
    uint64_t to, from; /* addresses, of the host's where the kind says so */
    uint64_t bytes;
    uint64_t value; /* of a set, repeated */
    unsigned width; /* its bytes: 1, 2 or 4 */
    CUevent event;
    CUfunction function;
    uint32_t grid[3], block[3];
    uint64_t dynamic_bytes;
    unsigned char *params; /* owned */
};
/* Runs or records. Takes over `work->params`. */
CUresult rung_sim_submit(struct rung_sim_context *context, struct rung_sim_stream *stream,
                         struct rung_sim_work *work);
/* A whole call: a copy or a set on the stream of that handle. */
CUresult rung_sim_transfer(struct rung_sim_work work, CUstream stream);
/* Runs now, whatever the stream. The code is for the caller at once: a bad range is 1. What a
 * kernel does wrong kills the context, and is told by the next call. */
CUresult rung_sim_work_run(struct rung_sim_context *context, const struct rung_sim_work *work);

/* The beginning of a call that a stream which is captured refuses with 900. */
CUresult rung_sim_enter_idle_stream(CUstream stream);

/* Calls that the drop-in library has beside the table. */
CUresult rung_sim_cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
                                    CUstream stream);
CUresult rung_sim_cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                    CUstream stream);
CUresult rung_sim_cuMemsetD16Async(CUdeviceptr pointer, unsigned short value, size_t count,
                                   CUstream stream);
CUresult rung_sim_cuMemsetD32Async(CUdeviceptr pointer, unsigned int value, size_t count,
                                   CUstream stream);

struct rung_sim_graph {
    struct rung_sim_object object;
    struct rung_sim_work *works;
    size_t n_works, room;
};
CUresult rung_sim_graph_record(struct rung_sim_graph *graph, struct rung_sim_work *work);
void rung_sim_graph_free(struct rung_sim_graph *graph);

/* Loads PTX: what cuModuleLoadDataEx does, and its relatives of the drop-in library. */
CUresult rung_sim_module_load(struct rung_sim_context *context, CUmodule *out, const void *image,
                              unsigned n_options, const CUjit_option *options, void **values);
void rung_sim_module_free(struct rung_sim_module *module);
CUresult rung_sim_function_get(CUfunction *out, struct rung_sim_module *module, const char *name);
CUresult rung_sim_enter_function(CUfunction handle, struct rung_sim_function **function);

/* A launch, tested as a card tests it: 1 for a bad shape, 701 for too many threads. */
CUresult rung_sim_launch_submit(struct rung_sim_context *context, CUfunction function,
                                const uint32_t grid[3], const uint32_t block[3],
                                uint64_t dynamic_bytes, CUstream stream, void **params,
                                void **extra);

#endif
