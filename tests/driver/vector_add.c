/* A Driver API program as anyone would write it: it includes cuda.h, links -lcuda, and knows
 * nothing of who answers. Adds two vectors with a kernel in PTX, on the stream of its own, and
 * checks every element. Exit status 0 when all are right.
 * Run alone: LD_LIBRARY_PATH=build/sim build/tests/vector_add */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        CUresult result = (call);                                                                  \
        if (result != CUDA_SUCCESS) {                                                              \
            const char *name = NULL, *text = NULL;                                                 \
            cuGetErrorName(result, &name);                                                         \
            cuGetErrorString(result, &text);                                                       \
            fprintf(stderr, "%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call, name ? name : "?",  \
                    text ? text : "?");                                                            \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const char ptx[] = ".version 6.3\n"
                          ".target sm_75\n"
                          ".address_size 64\n"
                          ".global .align 4 .f32 bias;\n"
                          ".visible .entry vectorAdd(\n"
                          "    .param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n"
                          "{\n"
                          "    .reg .pred %p<2>;\n"
                          "    .reg .b32 %r<6>;\n"
                          "    .reg .f32 %f<6>;\n"
                          "    .reg .b64 %rd<11>;\n"
                          "    ld.param.u64 %rd1, [a];\n"
                          "    ld.param.u64 %rd2, [b];\n"
                          "    ld.param.u64 %rd3, [c];\n"
                          "    ld.param.u32 %r2, [n];\n"
                          "    mov.u32 %r3, %ctaid.x;\n"
                          "    mov.u32 %r4, %ntid.x;\n"
                          "    mov.u32 %r5, %tid.x;\n"
                          "    mad.lo.s32 %r1, %r3, %r4, %r5;\n"
                          "    setp.ge.u32 %p1, %r1, %r2;\n"
                          "    @%p1 bra done;\n"
                          "    cvta.to.global.u64 %rd4, %rd1;\n"
                          "    mul.wide.u32 %rd5, %r1, 4;\n"
                          "    add.s64 %rd6, %rd4, %rd5;\n"
                          "    cvta.to.global.u64 %rd7, %rd2;\n"
                          "    add.s64 %rd8, %rd7, %rd5;\n"
                          "    ld.global.f32 %f1, [%rd8];\n"
                          "    ld.global.f32 %f2, [%rd6];\n"
                          "    add.f32 %f3, %f2, %f1;\n"
                          "    ld.global.f32 %f4, [bias];\n"
                          "    add.f32 %f5, %f3, %f4;\n"
                          "    cvta.to.global.u64 %rd9, %rd3;\n"
                          "    add.s64 %rd10, %rd9, %rd5;\n"
                          "    st.global.f32 [%rd10], %f5;\n"
                          "done:\n"
                          "    ret;\n"
                          "}\n";

int main(void)
{
    const unsigned int n = 50000, block = 256;
    const size_t bytes = n * sizeof(float);
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUstream stream;
    CUevent start, stop;
    CUdeviceptr a, b, c, bias;
    float *host_a, *host_b, *host_c, half = 0.5f, ms = 0;
    char name[128], info[4096] = "", error[4096] = "";
    int count, version, major, minor, grid, best;
    size_t total, size;

    CHECK(cuInit(0));
    CHECK(cuDriverGetVersion(&version));
    CHECK(cuDeviceGetCount(&count));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetName(name, sizeof name, device));
    CHECK(cuDeviceTotalMem(&total, device));
    CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    printf("%d device(s), driver %d; using %s (%d.%d), %zu MiB\n", count, version, name, major,
           minor, total >> 20);
#if CUDA_VERSION >= 13000
    CHECK(cuCtxCreate(&context, NULL, 0, device));
#else
    CHECK(cuCtxCreate(&context, 0, device));
#endif

    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_LOG_VERBOSE};
    void *values[] = {info, (void *)sizeof info, error, (void *)sizeof error, (void *)1};
    CHECK(cuModuleLoadDataEx(&module, ptx, 5, options, values));
    printf("%s", info);
    CHECK(cuModuleGetFunction(&kernel, module, "vectorAdd"));
    CHECK(cuModuleGetGlobal(&bias, &size, module, "bias"));
    CHECK(cuMemcpyHtoD(bias, &half, size));
    CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &best, kernel, NULL, 0, 0));

    CHECK(cuMemAllocHost((void **)&host_a, bytes));
    CHECK(cuMemAllocHost((void **)&host_b, bytes));
    host_c = malloc(bytes);
    for (unsigned int i = 0; i < n; i++) {
        host_a[i] = (float)i;
        host_b[i] = (float)(2 * i);
    }
    CHECK(cuMemAlloc(&a, bytes));
    CHECK(cuMemAlloc(&b, bytes));
    CHECK(cuMemAlloc(&c, bytes));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&stop, CU_EVENT_DEFAULT));
    CHECK(cuMemcpyHtoDAsync(a, host_a, bytes, stream));
    CHECK(cuMemcpyHtoDAsync(b, host_b, bytes, stream));
    CHECK(cuMemsetD32Async(c, 0, n, stream));
    CHECK(cuEventRecord(start, stream));
    void *params[] = {&a, &b, &c, (void *)&n};
    CHECK(cuLaunchKernel(kernel, (n + block - 1) / block, 1, 1, block, 1, 1, 0, stream, params,
                         NULL));
    CHECK(cuEventRecord(stop, stream));
    CHECK(cuMemcpyDtoHAsync(host_c, c, bytes, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuStreamQuery(stream));
    CHECK(cuEventElapsedTime(&ms, start, stop));

    unsigned int wrong = 0;
    for (unsigned int i = 0; i < n; i++)
        wrong += host_c[i] != 3.0f * (float)i + 0.5f;
    printf("%u elements, %u wrong\n", n, wrong);

    CHECK(cuEventDestroy(stop));
    CHECK(cuEventDestroy(start));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(c));
    CHECK(cuMemFree(b));
    CHECK(cuMemFree(a));
    free(host_c);
    CHECK(cuMemFreeHost(host_b));
    CHECK(cuMemFreeHost(host_a));
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    return wrong || ms <= 0 ? 1 : 0;
}
