/* What a compiled image says about its modulo: every kernel of it, from its PTX and from its SASS.
 * Needs no card and no driver; SASS needs nvdisasm and goes without it. */
#ifndef RUNG_INSPECT_INSPECT_H
#define RUNG_INSPECT_INSPECT_H

#include "base/arena.h"
#include "base/error.h"
#include "inspect/code.h"
#include "inspect/disasm.h"
#include "inspect/verdict.h"

/* An image: PTX, a cubin, or both of one compilation. Borrowed until rung_inspect returns. */
struct rung_inspect_input {
    const char *ptx; /* NULL for none */
    size_t ptx_length;
    const unsigned char *cubin; /* NULL for none */
    size_t cubin_length;
};

struct rung_inspected_side {
    bool present;
    char why[256]; /* why not, in one line; "" where nothing was to be had */
    struct rung_code code;
    struct rung_modulo verdict;
};

struct rung_inspected {
    const char *kernel;
    unsigned ptx_target, sass_target; /* 75; 0 unknown */
    const char *ptx_target_word;      /* "sm_90a", NULL without PTX */
    const char *nvvm;                 /* "7.0.1" of the PTX's header, NULL if it does not tell */
    unsigned ptx_version;             /* 90; 0 without PTX */
    unsigned registers;               /* of the cubin; 0 unknown */
    uint64_t shared_bytes;            /* of the cubin */
    uint32_t first_line, last_line;   /* of the kernel in the PTX */
    struct rung_inspected_side ptx, sass;
};

struct rung_inspection {
    enum rung_status status; /* of this image; err says what is wrong with it */
    struct rung_error err;
    struct rung_inspected *kernels; /* in the order of the PTX, then those only in the cubin */
    size_t n_kernels;
    struct rung_lines ptx_lines; /* the text of the PTX; empty without one */
    char disassembler[32];       /* "13.2.51", "" if none ran */
    struct rung_arena arena;
};

/* Inspects `n` images at once: out[i] tells of inputs[i] and is released by the caller. `disasm`
 * may be NULL, `disasm_why` then says why. PTX that does not parse or a damaged cubin is RUNG_USAGE
 * with the place; nothing in either can make this crash. */
void rung_inspect(struct rung_inspection *out, const struct rung_inspect_input *inputs, size_t n,
                  const struct rung_disasm *disasm, const char *disasm_why);
void rung_inspection_release(struct rung_inspection *inspection);

enum rung_agreement {
    RUNG_AGREE,
    RUNG_DISAGREE,
    RUNG_ONE_SIDED /* there is only one verdict, or none */
};
enum rung_agreement rung_inspected_agreement(const struct rung_inspected *inspected);

/* The verdict of one kernel in a word or two, "mask x8", "divide", "divide/mask" where PTX and SASS
 * differ; from PTX alone when `disasm` is NULL, in about a millisecond. `kernel` may be NULL for
 * the only one. "" if the image cannot be read or lacks the kernel. */
#define RUNG_INSPECT_WORD 56
void rung_inspect_image(char word[RUNG_INSPECT_WORD], const struct rung_inspect_input *input,
                        const char *kernel, const struct rung_disasm *disasm);

#endif
