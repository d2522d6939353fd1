/* The ELF of a cubin, looked at without a driver. A damaged cubin can kill the process inside the
 * driver, so every offset, size and index is held against the length of the bytes before it is
 * used, and nothing outside them is ever read.
 *
 * Layout as NVIDIA's tools of releases 11.8 to 13 write it: one section `.text.<kernel>` each, its
 * static shared memory in `.nv.shared.<kernel>`, its register count in `.nv.info`. */
#ifndef RUNG_CUBIN_ELF_H
#define RUNG_CUBIN_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct rung_cubin_kernel {
    const char *name;          /* the entry, borrowed from the bytes */
    const unsigned char *text; /* its machine code, borrowed from the bytes */
    size_t text_length;
    unsigned registers;    /* per thread; 0 if the cubin does not tell */
    uint64_t shared_bytes; /* declared by the source: without what sm_90 and up reserve */
};

/* A function that the compiler put behind a kernel, in the same section: a division, say. */
struct rung_cubin_routine {
    const char *name; /* "$__internal_0_$__cuda_sm20_rem_u64", borrowed from the bytes */
    size_t kernel;    /* index into kernels */
    uint64_t offset;  /* within the kernel's text, where it begins */
};

struct rung_cubin {
    unsigned sm; /* 90 for sm_90 and sm_90a */
    size_t n_kernels;
    struct rung_cubin_kernel *kernels; /* in the order of the sections; entries only */
    size_t n_routines;
    struct rung_cubin_routine *routines;
};

/* Whether the bytes begin as an ELF file does. */
bool rung_cubin_is_elf(const void *bytes, size_t length);

/* Checks the whole structure and lists the kernels. RUNG_USAGE says what is wrong: no ELF, not for
 * a GPU, or a part that lies outside the file. The result borrows from `bytes`. */
enum rung_status rung_cubin_read(struct rung_cubin *out, const void *bytes, size_t length,
                                 struct rung_error *err);
void rung_cubin_release(struct rung_cubin *cubin);

/* The kernel of that name; NULL if there is none. */
const struct rung_cubin_kernel *rung_cubin_find(const struct rung_cubin *cubin, const char *name);

#endif
