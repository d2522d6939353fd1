/* The source of the read kernel and its PTX for the oldest target, as text. */
#ifndef RUNG_BENCH_READ_KERNEL_H
#define RUNG_BENCH_READ_KERNEL_H

/* rung_read(const uint4 *in, unsigned int *out, unsigned long long n): n counts uint4. */
#define RUNG_READ_KERNEL_SYMBOL "rung_read"
#define RUNG_READ_KERNEL_BLOCK 512

extern const char rung_read_kernel_source[];
extern const char rung_read_kernel_ptx[];

#endif
