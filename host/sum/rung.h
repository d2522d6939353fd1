/* librung: the sum of an array on a CUDA card, in one launch.
 *
 *     struct rung_sum *sum;
 *     float total;
 *     if (rung_sum_open(&sum, RUNG_SUM_F32, stream) || rung_sum_value(sum, &total, x, n))
 *         fprintf(stderr, "%s\n", rung_sum_message(sum));
 *     rung_sum_close(sum);
 *
 * For programs of the Driver API and of the runtime API alike: a stream is a CUstream or a
 * cudaStream_t, a device pointer is what cudaMalloc gives, or a CUdeviceptr cast to a pointer. The
 * driver's library is opened at run time; nothing else of CUDA is needed, no compiler either.
 * Cards from compute capability 7.5 on, drivers from CUDA 11.3 on.
 *
 * The sum is of all n elements, n from 0 on (then it is 0), at any address that the type allows;
 * one at a multiple of 16 bytes is a little faster. Elements of RUNG_SUM_I32 add up modulo 2^32.
 *
 * Floating point: each addition rounds to nearest, and an element goes through few of them. With S
 * the sum of the absolute values, eps 2^-24 for f32 and 2^-53 for f64, M the card's multiprocessors
 * and B the bytes that are read, the result is within (B / (M * 2^20) + 64) * eps * S of the exact
 * sum: on cards of at most 2 MiB of L2 a multiprocessor, where no sum on the way overflows and no
 * product underflows. The order of the additions depends on n, on the addresses modulo 16 and on
 * the kind of card and its driver, and on nothing else: the same call gives the same bits.
 *
 * Threads: a handle is used by one thread at a time, with the context current in which it was
 * opened. Its calls are ordered by its stream; captured into a graph they may be replayed as often
 * as wished, but never two of them at a time, for they share the handle's partial sums. Different
 * handles know nothing of each other. */
#ifndef RUNG_H
#define RUNG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rung_sum_code {
    RUNG_SUM_OK,
    RUNG_SUM_INVALID, /* an argument that cannot be: said which, and nothing was launched */
    RUNG_SUM_UNABLE,  /* no driver, no current context, or a card that is too old */
    RUNG_SUM_DRIVER,  /* the driver refused, or a launch before failed: said what and why */
    RUNG_SUM_MEMORY   /* out of memory */
};

enum rung_sum_element { RUNG_SUM_F32, RUNG_SUM_F64, RUNG_SUM_I32 };

struct rung_sum;    /* a kernel in the driver, and the memory of its partial sums */
struct CUstream_st; /* CUstream and cudaStream_t point to it; NULL: the legacy default stream */

/* Makes a handle for one type and one stream, in the context that is current: loads the kernels
 * (which the driver compiles the first time, in a quarter of a second, and keeps, unless librung
 * was built with code for the card, -DRUNG_TARGETS), and allocates some KiB on the card and a word
 * on the host. Waits for the stream, so that a stream which is being captured refuses. After a
 * failure `*out` is a handle that can only tell its message and be closed, or NULL where there was
 * no memory for that. */
enum rung_sum_code rung_sum_open(struct rung_sum **out, enum rung_sum_element element,
                                 struct CUstream_st *stream);

/* Waits for the stream, which must still be there, then gives everything back. A graph that has
 * captured calls of the handle cannot be replayed from then on. NULL is accepted. */
void rung_sum_close(struct rung_sum *sum);

/* Puts on the stream: *result = x[0] + ... + x[n - 1], and returns. `result` and `x` are device
 * memory, aligned to the element; `result` may be host memory that is mapped into the device. It
 * must not lie within x or y. One kernel, no allocation, no wait: fit for capture into a graph. */
enum rung_sum_code rung_sum_enqueue(struct rung_sum *sum, void *result, const void *x, uint64_t n);

/* The same of *result = x[0] * y[0] + ... + x[n - 1] * y[n - 1]. Faster where x and y are the same
 * number of bytes past a multiple of 16. */
enum rung_sum_code rung_sum_enqueue_dot(struct rung_sum *sum, void *result, const void *x,
                                        const void *y, uint64_t n);

/* The same, and waits for the value, which no capture can: `result` is host memory, one element. */
enum rung_sum_code rung_sum_value(struct rung_sum *sum, void *result, const void *x, uint64_t n);
enum rung_sum_code rung_sum_dot_value(struct rung_sum *sum, void *result, const void *x,
                                      const void *y, uint64_t n);

/* What the last call that failed had to say, one line or more without a final newline; "" if none
 * did. Valid until the next call with the handle. NULL is a handle that found no memory. */
const char *rung_sum_message(const struct rung_sum *sum);

/* "0.1.0": of the library that was loaded. */
const char *rung_sum_version(void);

#ifdef __cplusplus
}
#endif

#endif
