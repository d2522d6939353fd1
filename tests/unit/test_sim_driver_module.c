/* Run alone: build/tests/test_sim_driver_module
 * Loading images into the simulator: the codes and logs of the driver, and functions. */
#include "support/kernels.h"
#include "support/sim_fixture.h"

struct logs {
    char info[2048], error[2048];
    size_t info_bytes, error_bytes;
    float wall_ms;
};

static CUresult load_with_logs(struct logs *logs, CUmodule *module, const void *image, bool verbose)
{
    CUjit_option options[] = {
        CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_WALL_TIME,        CU_JIT_LOG_VERBOSE,
    };
    void *values[] = {
        logs->info, (void *)sizeof logs->info,  logs->error, (void *)sizeof logs->error,
        NULL,       (void *)(uintptr_t)verbose,
    };
    memset(logs, 0, sizeof *logs);
    CUresult code = cu.cuModuleLoadDataEx(module, image, 6, options, values);
    logs->info_bytes = (size_t)(uintptr_t)values[1];
    logs->error_bytes = (size_t)(uintptr_t)values[3];
    memcpy(&logs->wall_ms, &values[4], sizeof logs->wall_ms);
    return code;
}

static void refusals_have_the_drivers_codes(void **state)
{
    (void)state;
    static const struct {
        const char *image, *log;
        CUresult code;
    } cases[] = {
        {"",                                                                      NULL,          CUDA_ERROR_INVALID_IMAGE    },
        {"not ptx at all",                                                        NULL,          CUDA_ERROR_INVALID_IMAGE    },
        {"kernels/reduce.ptx",                                                    NULL,          CUDA_ERROR_INVALID_IMAGE    },
        {"\xef\xbb\xbf" PTX_FILL,                                                 NULL,          CUDA_ERROR_INVALID_IMAGE    },
        {"\x7f"
         "ELF\x02\x01\x01",                                              "PTX",         CUDA_ERROR_NO_BINARY_FOR_GPU},
        {"\x50\xed\x55\xba\x01",                                                  "PTX",         CUDA_ERROR_NO_BINARY_FOR_GPU},
        {".version 9.1\n.target sm_75\n.address_size 64\n",                       "9.1",
         CUDA_ERROR_UNSUPPORTED_PTX_VERSION                                                                                  },
        {".version 99.0\n.target sm_75\n.address_size 64\n",                      "99.0",
         CUDA_ERROR_UNSUPPORTED_PTX_VERSION                                                                                  },
        {".version 6.2\n.target sm_75\n.address_size 64\n",                       "sm_75",       CUDA_ERROR_INVALID_PTX      },
        {".version 9.0\n.target sm_999\n.address_size 64\n",                      "sm_999",      CUDA_ERROR_INVALID_PTX      },
        {PTX_HEAD ".visible .entry k()\n{\nret;\n",                               "line",        CUDA_ERROR_INVALID_PTX      },
        {PTX_HEAD ".visible .entry k()\n{\nwgmma.fence.sync.aligned;\nret;\n}\n", "wgmma.fence",
         CUDA_ERROR_INVALID_PTX                                                                                              },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct logs logs;
        CUmodule module = (CUmodule)1;
        CUresult code = load_with_logs(&logs, &module, cases[i].image, false);
        if (code != cases[i].code)
            fail_msg("case %zu: %d instead of %d (%s)", i, code, cases[i].code, logs.error);
        if (cases[i].log)
            assert_contains(logs.error, cases[i].log);
        assert_ptr_equal(module, (CUmodule)1);
        assert_int_equal(logs.info_bytes, 0);
        assert_int_equal(logs.error_bytes, strlen(logs.error) + 1);
    }
}

static void unsupported_instruction_names_its_line(void **state)
{
    (void)state;
    struct logs logs;
    CUmodule module;
    assert_code(load_with_logs(&logs, &module,
                               PTX_HEAD ".visible .entry k()\n{\nwgmma.fence.sync.aligned;\n}\n",
                               false),
                CUDA_ERROR_INVALID_PTX);
    assert_contains(logs.error, "line 6");
}

static void verbose_load_describes_the_entries(void **state)
{
    (void)state;
    struct logs logs;
    CUmodule module;
    assert_code(load_with_logs(&logs, &module, PTX_TILE, true), CUDA_SUCCESS);
    assert_contains(logs.info, "'tile' for 'sm_121'");
    assert_contains(logs.info, "1024 bytes smem");
    assert_int_equal(logs.info_bytes, strlen(logs.info) + 1);
    assert_int_equal(logs.error_bytes, 0);
    assert_true(logs.wall_ms > 0 && logs.wall_ms < 1e5f);
    assert_code(cu.cuModuleUnload(module), CUDA_SUCCESS);
    assert_code(load_with_logs(&logs, &module, PTX_TILE, false), CUDA_SUCCESS);
    assert_int_equal(logs.info_bytes, 0);
    assert_code(cu.cuModuleUnload(module), CUDA_SUCCESS);
}

static void short_log_is_cut_and_terminated(void **state)
{
    (void)state;
    char log[8];
    memset(log, 'x', sizeof log);
    CUmodule module;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)5};
    assert_code(cu.cuModuleLoadDataEx(&module, "garbage", 2, options, values),
                CUDA_ERROR_INVALID_IMAGE);
    assert_int_equal((uintptr_t)values[1], 5);
    assert_int_equal(strlen(log), 4);
    assert_int_equal(log[5], 'x');
}

static void options_are_checked(void **state)
{
    (void)state;
    CUmodule module;
    CUjit_option target = CU_JIT_TARGET, nonsense = (CUjit_option)1000;
    void *value = (void *)(uintptr_t)75;
    assert_code(cu.cuModuleLoadDataEx(&module, PTX_FILL, 1, &target, &value),
                CUDA_ERROR_INVALID_SOURCE);
    value = (void *)(uintptr_t)121;
    assert_code(cu.cuModuleLoadDataEx(&module, PTX_FILL, 1, &target, &value), CUDA_SUCCESS);
    assert_code(cu.cuModuleUnload(module), CUDA_SUCCESS);
    assert_code(cu.cuModuleLoadDataEx(&module, PTX_FILL, 1, &nonsense, &value),
                CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuModuleLoadDataEx(&module, PTX_FILL, 1, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuModuleLoadDataEx(NULL, PTX_FILL, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuModuleLoadDataEx(&module, NULL, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void functions_are_found_by_name(void **state)
{
    (void)state;
    CUmodule module, crlf;
    CUfunction one, two;
    assert_code(cu.cuModuleLoadDataEx(&module, PTX_TILE, 0, NULL, NULL), CUDA_SUCCESS);
    assert_code(cu.cuModuleGetFunction(&one, module, "tile"), CUDA_SUCCESS);
    assert_code(cu.cuModuleGetFunction(&two, module, "tile"), CUDA_SUCCESS);
    assert_ptr_equal(one, two);
    assert_code(cu.cuModuleGetFunction(&two, module, "tiles"), CUDA_ERROR_NOT_FOUND);
    assert_code(cu.cuModuleGetFunction(&two, module, ""), CUDA_ERROR_NOT_FOUND);
    assert_code(cu.cuModuleGetFunction(&two, (CUmodule)one, "tile"), CUDA_ERROR_INVALID_HANDLE);
    int value = -1;
    static const struct {
        CUfunction_attribute attribute;
        int value;
    } cases[] = {
        {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,         256         },
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,             1024        },
        {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,              0           },
        {CU_FUNC_ATTRIBUTE_PTX_VERSION,                   75          },
        {CU_FUNC_ATTRIBUTE_BINARY_VERSION,                121         },
        {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 49152 - 1024},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_code(cu.cuFuncGetAttribute(&value, cases[i].attribute, one), CUDA_SUCCESS);
        assert_int_equal(value, cases[i].value);
    }
    assert_code(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, one), CUDA_SUCCESS);
    assert_in_range(value, 1, 255);
    assert_code(cu.cuFuncGetAttribute(&value, (CUfunction_attribute)99, one),
                CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuModuleUnload(module), CUDA_SUCCESS);
    /* The function went with its module; so did the module. */
    assert_code(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, one),
                CUDA_ERROR_INVALID_HANDLE);
    assert_code(launch(one, 1, 32, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    assert_code(cu.cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    assert_code(cu.cuModuleUnload(NULL), CUDA_ERROR_INVALID_HANDLE);
    assert_code(cu.cuModuleLoadDataEx(
                    &crlf, ".version 6.3\r\n.target sm_75\r\n.address_size 64\r\n", 0, NULL, NULL),
                CUDA_SUCCESS);
    assert_code(cu.cuModuleUnload(crlf), CUDA_SUCCESS);
}

static void occupancy_follows_the_limits(void **state)
{
    (void)state;
    CUmodule module;
    CUfunction tile = load_function(&module, PTX_TILE, "tile");
    static const struct {
        int threads;
        size_t dynamic;
        int blocks;
    } cases[] = {
        {32,  0,     24}, /* block slots of compute capability 12.1 */
        {256, 0,     6 }, /* 1,536 threads */
        {33,  0,     24}, /* two warps each: 24 blocks are 48 warps */
        {128, 0,     12},
        {32,  31744, 3 }, /* 100 KiB over 1 + 31 + 1 */
        {512, 0,     0 }, /* above .maxntid */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int blocks = -1;
        assert_code(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tile, cases[i].threads,
                                                                   cases[i].dynamic),
                    CUDA_SUCCESS);
        assert_int_equal(blocks, cases[i].blocks);
    }
    int blocks = 0;
    assert_code(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tile, 0, 0),
                CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuModuleUnload(module), CUDA_SUCCESS);
}

static void linking_is_not_supported(void **state)
{
    (void)state;
    CUlinkState link;
    assert_code(cu.cuLinkCreate(0, NULL, NULL, &link), CUDA_ERROR_NOT_SUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        sim_test(refusals_have_the_drivers_codes),
        sim_test(unsupported_instruction_names_its_line),
        sim_test(verbose_load_describes_the_entries),
        sim_test(short_log_is_cut_and_terminated),
        sim_test(options_are_checked),
        sim_test(functions_are_found_by_name),
        sim_test(occupancy_follows_the_limits),
        sim_test(linking_is_not_supported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
