/* A program of somebody else's: sums, and multiplies and sums, what it puts on the card, with librung
 * as it is installed, and prints the values. */
#include <rung.h>

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1000003

#define CHECK(call)                                                                                \
    do {                                                                                           \
        CUresult code_ = (call);                                                                   \
        if (code_ != CUDA_SUCCESS) {                                                               \
            fprintf(stderr, "%s: %d\n", #call, (int)code_);                                        \
            return EXIT_FAILURE;                                                                   \
        }                                                                                          \
    } while (0)

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUstream stream;
    CUdeviceptr x;
    struct rung_sum *sum;
    float total = 0, square = 0;

    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CHECK(cuMemAlloc(&x, N * sizeof(float)));
    CHECK(cuMemsetD32(x, 0x40000000, N)); /* 2.0f */

    int failed = rung_sum_open(&sum, RUNG_SUM_F32, stream) ||
                 rung_sum_value(sum, &total, (const void *)x, N) ||
                 rung_sum_dot_value(sum, &square, (const void *)x, (const void *)x, N);
    if (failed)
        fprintf(stderr, "%s\n", rung_sum_message(sum));
    else
        printf("librung %s: %.0f %.0f\n", rung_sum_version(), (double)total, (double)square);
    rung_sum_close(sum);
    CHECK(cuMemFree(x));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuDevicePrimaryCtxRelease(device));
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
