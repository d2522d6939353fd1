/* Run alone: build/tests/test_sim_driver_memory
 * The simulated device's memory and what the device says of itself. */
#define _GNU_SOURCE
#include "support/sim_fixture.h"

static void addresses_are_not_the_hosts(void **state)
{
    (void)state;
    CUdeviceptr pointer = 0;
    assert_code(cu.cuMemAlloc(&pointer, 4), CUDA_SUCCESS);
    assert_true(pointer >> 47 != 0); /* no user program has such an address */
    assert_int_equal(pointer % 256, 0);
    assert_code(cu.cuMemFree(pointer), CUDA_SUCCESS);
}

static void copies_stay_inside_an_allocation(void **state)
{
    (void)state;
    CUdeviceptr a = 0, b = 0;
    unsigned char out[300], in[300];
    memset(in, 7, sizeof in);
    assert_code(cu.cuMemAlloc(&a, 256), CUDA_SUCCESS);
    assert_code(cu.cuMemAlloc(&b, 256), CUDA_SUCCESS);
    assert_code(cu.cuMemcpyHtoD(a, in, 257), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuMemcpyHtoD(a + 1, in, 256), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuMemcpyHtoD(a - 1, in, 1), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuMemcpyDtoH(out, b + 256, 1), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuMemcpyHtoD(a, in, 256), CUDA_SUCCESS);
    assert_code(cu.cuMemcpyDtoD(b, a, 256), CUDA_SUCCESS);
    assert_code(cu.cuMemcpyDtoH(out, b, 256), CUDA_SUCCESS);
    assert_memory_equal(out, in, 256);
    assert_code(cu.cuMemcpyHtoD(a, in, 0), CUDA_SUCCESS);
    assert_code(cu.cuMemFree(a), CUDA_SUCCESS);
    assert_code(cu.cuMemcpyHtoD(a, in, 1), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuMemFree(b), CUDA_SUCCESS);
}

static void sets_fill_by_width(void **state)
{
    (void)state;
    CUdeviceptr a = 0;
    uint32_t out[4];
    assert_code(cu.cuMemAlloc(&a, sizeof out), CUDA_SUCCESS);
    assert_code(cu.cuMemsetD32(a, 0xdeadbeef, 4), CUDA_SUCCESS);
    assert_code(cu.cuMemsetD8(a + 4, 0x11, 4), CUDA_SUCCESS);
    assert_code(cu.cuMemcpyDtoH(out, a, sizeof out), CUDA_SUCCESS);
    assert_int_equal(out[0], 0xdeadbeef);
    assert_int_equal(out[1], 0x11111111);
    assert_int_equal(out[3], 0xdeadbeef);
    assert_code(cu.cuMemsetD32(a, 0, 5), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuMemsetD32(a + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuMemsetD32(a, 0, SIZE_MAX), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuMemFree(a), CUDA_SUCCESS);
}

static void a_pointer_is_freed_once(void **state)
{
    (void)state;
    CUdeviceptr a = 0;
    assert_code(cu.cuMemAlloc(&a, 64), CUDA_SUCCESS);
    assert_code(cu.cuMemFree(a + 4), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuMemFree(a), CUDA_SUCCESS);
    assert_code(cu.cuMemFree(a), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuMemFree(0), CUDA_SUCCESS);
    CUdeviceptr b = 0;
    assert_code(cu.cuMemAlloc(&b, 64), CUDA_SUCCESS);
    assert_int_not_equal(a, b); /* a stale pointer finds nothing */
    assert_code(cu.cuMemFree(b), CUDA_SUCCESS);
}

static void memory_has_an_end(void **state)
{
    (void)state;
    size_t available = 0, total = 0, now = 0;
    CUdeviceptr a = 0, b = 0;
    assert_code(cu.cuMemGetInfo(&available, &total), CUDA_SUCCESS);
    assert_true(available <= total && available > 1 << 20);
    assert_code(cu.cuMemAlloc(&a, 0), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuMemAlloc(&a, available + 1), CUDA_ERROR_OUT_OF_MEMORY);
    assert_code(cu.cuMemAlloc(&a, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
    assert_code(cu.cuMemAlloc(&a, available), CUDA_SUCCESS); /* lazily: costs nothing */
    assert_code(cu.cuMemAlloc(&b, 1), CUDA_ERROR_OUT_OF_MEMORY);
    assert_code(cu.cuMemGetInfo(&now, &total), CUDA_SUCCESS);
    assert_int_equal(now, 0);
    assert_code(cu.cuMemFree(a), CUDA_SUCCESS);
    assert_code(cu.cuMemGetInfo(&now, &total), CUDA_SUCCESS);
    assert_int_equal(now, available);
}

static void host_memory_is_mapped(void **state)
{
    (void)state;
    uint32_t *host = NULL, *other = NULL;
    CUdeviceptr device = 0;
    assert_code(cu.cuMemHostAlloc((void **)&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
    assert_code(cu.cuMemHostGetDevicePointer(&device, host + 2, 0), CUDA_SUCCESS);
    assert_code(cu.cuMemsetD32(device, 42, 1), CUDA_SUCCESS);
    assert_int_equal(host[2], 42);
    assert_code(cu.cuMemFree(device - 8), CUDA_ERROR_INVALID_VALUE); /* not by that call */
    assert_code(cu.cuMemHostGetDevicePointer(&device, &device, 0), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuMemHostAlloc((void **)&other, 16, 0x80), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuMemFreeHost(&device), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuMemFreeHost(host), CUDA_SUCCESS);
    assert_code(cu.cuMemFreeHost(NULL), CUDA_SUCCESS);
}

static void device_describes_itself(void **state)
{
    (void)state;
    static const struct {
        CUdevice_attribute attribute;
        int value;
    } cases[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,    12     },
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,    1      },
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,        16     },
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE,                   32     },
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,       1024   },
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152  },
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,              INT_MAX},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE,                  0      },
    };
    int value = -1;
    char name[64] = "", small[5] = "";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_code(cu.cuDeviceGetAttribute(&value, cases[i].attribute, 0), CUDA_SUCCESS);
        assert_int_equal(value, cases[i].value);
    }
    assert_code(cu.cuDeviceGetAttribute(&value, 0, 0), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1),
                CUDA_ERROR_INVALID_DEVICE);
    assert_code(cu.cuDeviceGetName(name, sizeof name, 0), CUDA_SUCCESS);
    assert_string_equal(name, "rung PTX simulator (no timing)");
    assert_code(cu.cuDeviceGetName(small, sizeof small, 0), CUDA_SUCCESS);
    assert_string_equal(small, "rung");
    assert_code(cu.cuDeviceGet(&value, 1), CUDA_ERROR_INVALID_DEVICE);
}

static void errors_have_names(void **state)
{
    (void)state;
    const char *text = "unchanged";
    assert_code(cu.cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
    assert_string_equal(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_code(cu.cuGetErrorString(CUDA_SUCCESS, &text), CUDA_SUCCESS);
    assert_string_equal(text, "no error");
    assert_code(cu.cuGetErrorName((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    assert_null(text);
}

/* The environment chooses the device when no context exists. */
static void settings_come_from_the_environment(void **state)
{
    (void)state;
    static const struct {
        const char *cc, *memory;
        CUresult code;
        int major, minor;
        size_t bytes;
    } cases[] = {
        {"75",   "1Gi",     CUDA_SUCCESS,             7,  5, (size_t)1 << 30},
        {"9.0",  "512Mi",   CUDA_SUCCESS,             9,  0, (size_t)1 << 29},
        {"12.1", "1048576", CUDA_SUCCESS,             12, 1, (size_t)1 << 20},
        {"70",   "1Gi",     CUDA_ERROR_INVALID_VALUE, 0,  0, 0              },
        {"abc",  "1Gi",     CUDA_ERROR_INVALID_VALUE, 0,  0, 0              },
        {"90a",  "1Gi",     CUDA_ERROR_INVALID_VALUE, 0,  0, 0              },
        {"-90",  "1Gi",     CUDA_ERROR_INVALID_VALUE, 0,  0, 0              },
        {"90",   "0",       CUDA_ERROR_INVALID_VALUE, 0,  0, 0              },
        {"90",   "1G",      CUDA_ERROR_INVALID_VALUE, 0,  0, 0              },
        {"90",   "-1",      CUDA_ERROR_INVALID_VALUE, 0,  0, 0              },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int major = 0, minor = 0;
        size_t bytes = 0;
        setenv("RUNG_SIM_CC", cases[i].cc, 1);
        setenv("RUNG_SIM_MEMORY", cases[i].memory, 1);
        rung_driver_open_sim(&cu);
        assert_code(cu.cuInit(0), cases[i].code);
        if (cases[i].code != CUDA_SUCCESS)
            continue;
        cu.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
        cu.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0);
        cu.cuDeviceTotalMem(&bytes, 0);
        assert_int_equal(major, cases[i].major);
        assert_int_equal(minor, cases[i].minor);
        assert_int_equal(bytes, cases[i].bytes);
    }
    unsetenv("RUNG_SIM_CC");
    unsetenv("RUNG_SIM_MEMORY");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_come_from_the_environment),
        sim_test(addresses_are_not_the_hosts),
        sim_test(copies_stay_inside_an_allocation),
        sim_test(sets_fill_by_width),
        sim_test(a_pointer_is_freed_once),
        sim_test(memory_has_an_end),
        sim_test(host_memory_is_mapped),
        sim_test(device_describes_itself),
        sim_test(errors_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
