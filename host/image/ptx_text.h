/* The head of PTX, `.version` and `.target`, and making PTX that older drivers take. */
#ifndef RUNG_IMAGE_PTX_TEXT_H
#define RUNG_IMAGE_PTX_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct rung_ptx_head {
    unsigned version; /* 90 for .version 9.0 */
    unsigned target;  /* 90 for .target sm_90a */
    /* Where the words "9.0" and "sm_90a" stand in the text. */
    size_t version_word, version_word_length;
    size_t target_word, target_word_length;
};

/* Whether the text, after white space and comments, begins with `.version`. */
bool rung_ptx_starts(const char *text, size_t length);

/* Reads the head; false if it is none. */
bool rung_ptx_read_head(struct rung_ptx_head *out, const char *text, size_t length);

/* The newest PTX version that a driver takes, from cuDriverGetVersion's number (12040 gives 84);
 * 0 for one before CUDA 10.0. A driver newer than the table gets the table's newest. */
unsigned rung_ptx_of_driver(int driver_version);

/* The CUDA release that brought a PTX version, as 12.4 for 84; "" if it is not known. */
const char *rung_ptx_release(unsigned version);

/* The oldest version that the target of this PTX and its instructions need, never above the one
 * it has; 0 when the target is not in the table. What no table can know is left to ptxas and to
 * the driver: an instruction that has no row needs only its target. */
unsigned rung_ptx_floor(const char *text, size_t length);

/* A copy with another `.version` and nothing else changed; the caller frees it. RUNG_USAGE when the
 * text has no head. */
enum rung_status rung_ptx_with_version(char **out, size_t *out_length, const char *text,
                                       size_t length, unsigned version, struct rung_error *err);

#endif
