/* Run alone: build/tests/test_driver_dropin
 * The drop-in library as this project's own loader sees it, and its cuGetProcAddress. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/device.h"
#include "sim/sim.h"
#include "support/kernels.h"

static void the_table_is_whole(void **state)
{
    (void)state;
    struct rung_driver driver = {0};
    struct rung_error err = {0};
    if (rung_driver_open_cuda(&driver, RUNG_DROPIN, &err) != RUNG_OK)
        fail_msg("%s", err.text);
#define CU_FN(name, abi, kind, parameters, arguments) assert_non_null(driver.name);
#include "driver/driver_api.def"
#undef CU_FN
    assert_string_equal(driver.path, RUNG_DROPIN);
    rung_driver_close(&driver);
}

static void a_device_opens_and_computes(void **state)
{
    (void)state;
    struct rung_device device;
    struct rung_error err = {0};
    CUmodule module;
    CUfunction fill;
    CUdeviceptr out = 0;
    uint32_t value = 3, result[128];
    void *params[] = {&out, &value};
    if (rung_device_open(&device, "cuda:0", RUNG_DROPIN, NULL, &err) != RUNG_OK)
        fail_msg("%s", err.text);
    const struct rung_driver *cu = &device.driver;
    assert_string_equal(device.name, "rung PTX simulator (no timing)");
    assert_int_equal(cu->kind, RUNG_DRIVER_SIM); /* so that nobody takes its times for a card's */
    assert_non_null(cu->sim);
    cu->sim->reset();
    assert_int_equal(cu->cuModuleLoadDataEx(&module, PTX_FILL, 0, NULL, NULL), CUDA_SUCCESS);
    assert_int_equal(cu->cuModuleGetFunction(&fill, module, "fill"), CUDA_SUCCESS);
    assert_int_equal(cu->cuMemAlloc(&out, sizeof result), CUDA_SUCCESS);
    assert_int_equal(cu->cuLaunchKernel(fill, 4, 1, 1, 32, 1, 1, 0, device.stream, params, NULL),
                     CUDA_SUCCESS);
    assert_int_equal(cu->cuMemcpyDtoH(result, out, sizeof result), CUDA_SUCCESS);
    assert_int_equal(result[127], 130);
    struct rung_sim_counters counters;
    cu->sim->read_counters(&counters);
    assert_int_equal(counters.launches, 1);
    assert_int_equal(counters.blocks, 4);
    assert_int_equal(cu->cuMemFree(out), CUDA_SUCCESS);
    assert_int_equal(cu->cuModuleUnload(module), CUDA_SUCCESS);
    rung_device_close(&device);
}

static void auto_says_that_it_is_no_card(void **state)
{
    (void)state;
    struct rung_device device;
    struct rung_error err = {0};
    char why[512] = "";
    assert_int_equal(rung_device_open(&device, "auto", RUNG_DROPIN, why, &err), RUNG_OK);
    assert_non_null(strstr(why, "is the simulator, not a driver"));
    assert_int_equal(device.driver.kind, RUNG_DRIVER_SIM);
    rung_device_close(&device);
}

static void survey_finds_no_card_in_it(void **state)
{
    (void)state;
    struct rung_survey survey;
    rung_device_survey(&survey, RUNG_DROPIN);
    assert_string_equal(survey.path, RUNG_DROPIN);
    assert_non_null(strstr(survey.why, "is the simulator, not a driver"));
    assert_int_equal(survey.driver_version, 13000);
    assert_int_equal(survey.n_cards, 0);
}

static void versions_are_told_apart(void **state)
{
    (void)state;
    void *library = dlopen(RUNG_DROPIN, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    CUresult (*find)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
    *(void **)&find = dlsym(library, "cuGetProcAddress_v2");
    static const struct {
        const char *name, *symbol;
        int version;
        CUdriverProcAddressQueryResult status;
    } cases[] = {
        {"cuMemAlloc",         "cuMemAlloc",            3010,  CU_GET_PROC_ADDRESS_SUCCESS               },
        {"cuMemAlloc",         "cuMemAlloc_v2",         3020,  CU_GET_PROC_ADDRESS_SUCCESS               },
        {"cuMemAlloc",         "cuMemAlloc_v2",         13000, CU_GET_PROC_ADDRESS_SUCCESS               },
        {"cuCtxCreate",        "cuCtxCreate",           2000,  CU_GET_PROC_ADDRESS_SUCCESS               },
        {"cuCtxCreate",        "cuCtxCreate_v2",        11030, CU_GET_PROC_ADDRESS_SUCCESS               },
        {"cuCtxCreate",        "cuCtxCreate_v3",        12040, CU_GET_PROC_ADDRESS_SUCCESS               },
        {"cuCtxCreate",        "cuCtxCreate_v4",        13000, CU_GET_PROC_ADDRESS_SUCCESS               },
        {"cuEventElapsedTime", "cuEventElapsedTime",    12070, CU_GET_PROC_ADDRESS_SUCCESS               },
        {"cuEventElapsedTime", "cuEventElapsedTime_v2", 12080, CU_GET_PROC_ADDRESS_SUCCESS               },
        {"cuCtxSynchronize",   "cuCtxSynchronize",      12080, CU_GET_PROC_ADDRESS_SUCCESS               },
        {"cuLaunchKernel",     NULL,                    3020,  CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT},
        {"cuMemAlloc_v2",      NULL,                    13000, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND      },
        {"cuNoSuchFunction",   NULL,                    13000, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND      },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CUdriverProcAddressQueryResult status = 99;
        void *pointer = &status;
        assert_int_equal(find(cases[i].name, &pointer, cases[i].version, 0, &status), CUDA_SUCCESS);
        assert_int_equal(status, cases[i].status);
        assert_ptr_equal(pointer, cases[i].symbol ? dlsym(library, cases[i].symbol) : NULL);
    }
    void *pointer = NULL;
    assert_int_equal(find("cuNoSuchFunction", &pointer, 13000, 0, NULL), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(find("cuInit", &pointer, 13000, 0, NULL), CUDA_SUCCESS);
    assert_int_equal(find(NULL, &pointer, 13000, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    dlclose(library);
}

static void counters_are_found_by_name(void **state)
{
    (void)state;
    void *library = dlopen(RUNG_DROPIN, RTLD_NOW | RTLD_LOCAL);
    void (*reset)(void), (*counters)(struct rung_sim_counters *);
    uint64_t (*live)(void);
    *(void **)&reset = dlsym(library, "rungSimReset");
    *(void **)&counters = dlsym(library, "rungSimCounters");
    *(void **)&live = dlsym(library, "rungSimLiveHandles");
    assert_non_null(reset);
    assert_non_null(counters);
    assert_non_null(live);
    struct rung_sim_counters seen;
    memset(&seen, 0xff, sizeof seen);
    reset();
    counters(&seen);
    assert_int_equal(seen.launches, 0);
    assert_int_equal(live(), 0);
    dlclose(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_whole),
        cmocka_unit_test(a_device_opens_and_computes),
        cmocka_unit_test(auto_says_that_it_is_no_card),
        cmocka_unit_test(survey_finds_no_card_in_it),
        cmocka_unit_test(versions_are_told_apart),
        cmocka_unit_test(counters_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
