/* The kernel of the read ceiling, as text: ptx_src/support/read.cu, and its PTX for the oldest
 * target from generated/support/. */
#ifndef RUNG_BENCH_READ_KERNEL_H
#define RUNG_BENCH_READ_KERNEL_H

/* rung_read(const uint4 *in, unsigned int *out, unsigned long long n): n counts uint4. */
#define RUNG_READ_KERNEL_SYMBOL "rung_read"
#define RUNG_READ_KERNEL_BLOCK 512

extern const char rung_read_cu[];
extern const char rung_read_ptx[];

#endif
