/* Run alone: build/tests/test_driver_cuda
 * The loader of the driver table against libraries that are wrong in one way each. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "driver/driver.h"

/* Opens the fake library in one of its ways. */
static enum rung_status open_fake(struct rung_driver *driver, const char *way,
                                  struct rung_error *err)
{
    setenv("FAKE_CUDA", way, 1);
    return rung_driver_open_cuda(driver, RUNG_FAKE_CUDA, err);
}

static void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' lacks '%s'", text, part);
}

static void refuses(const char *way, const char *part)
{
    struct rung_driver driver = {0};
    struct rung_error err = {0};
    assert_int_equal(open_fake(&driver, way, &err), RUNG_UNABLE);
    assert_contains(err.text, part);
    assert_contains(err.text, RUNG_FAKE_CUDA);
    assert_null(driver.handle);
    rung_driver_close(&driver);
}

static void missing_library_is_named(void **state)
{
    (void)state;
    struct rung_driver driver = {0};
    struct rung_error err = {0};
    assert_int_equal(rung_driver_open_cuda(&driver, "/nonexistent/libcuda.so.1", &err),
                     RUNG_UNABLE);
    assert_contains(err.text, "/nonexistent/libcuda.so.1");
    assert_null(strchr(err.text, '\n'));
}

static void other_library_is_no_driver(void **state)
{
    (void)state;
    struct rung_driver driver = {0};
    struct rung_error err = {0};
    assert_int_equal(rung_driver_open_cuda(&driver, "libm.so.6", &err), RUNG_UNABLE);
    assert_contains(err.text, "no cuGetProcAddress");
    assert_contains(err.text, "libm.so.6");
}

static void too_old_names_the_function(void **state)
{
    (void)state;
    refuses("old", "lacks cuMemAlloc of CUDA 3.2");
}

static void success_without_a_pointer_is_missing(void **state)
{
    (void)state;
    refuses("null", "lacks cuMemAlloc of CUDA 3.2");
}

static void stub_is_recognised(void **state)
{
    (void)state;
    refuses("stub", "link stub");
}

static void stub_of_the_toolkit_is_recognised(void **state)
{
    (void)state;
    if (!strcmp(RUNG_CUDA_STUB, "RUNG_CUDA_STUB-NOTFOUND"))
        skip();
    struct rung_driver driver = {0};
    struct rung_error err = {0};
    assert_int_equal(rung_driver_open_cuda(&driver, RUNG_CUDA_STUB, &err), RUNG_UNABLE);
    assert_int_equal(err.native, CUDA_ERROR_STUB_LIBRARY);
    assert_contains(err.text, RUNG_CUDA_STUB);
    assert_contains(err.text, "LD_LIBRARY_PATH");
}

static void optional_functions_may_be_missing(void **state)
{
    (void)state;
    struct rung_driver driver = {0};
    struct rung_error err = {0};
    assert_int_equal(open_fake(&driver, "bare", &err), RUNG_OK);
    assert_string_equal(driver.path, RUNG_FAKE_CUDA);
    assert_int_equal(driver.kind, RUNG_DRIVER_CUDA);
    assert_null(driver.cuGetErrorName);
    assert_null(driver.cuGraphLaunch);
    assert_null(driver.cuLinkCreate);
    assert_non_null(driver.cuLaunchKernel);
    rung_driver_close(&driver);
    assert_null(driver.handle);
    assert_null(driver.cuLaunchKernel);
}

/* Every row of the table against the enumerators of cuda.h, at compile time. */
#if CUDA_VERSION >= 13000
#define CU_ERROR(name, code, meaning, hint)                                                        \
    _Static_assert(CUDA_ERROR_##name == (code), "CUDA_ERROR_" #name);
#include "driver/errors.def"
#undef CU_ERROR
#endif

static void codes_are_sorted_and_said(void **state)
{
    (void)state;
    int before = 0;
#define CU_ERROR(name, code, meaning, hint)                                                        \
    assert_true((code) > before);                                                                  \
    before = code;                                                                                 \
    assert_string_equal(rung_cu_error_name(NULL, (CUresult)(code)), "CUDA_ERROR_" #name);          \
    assert_string_equal(rung_cu_error_text(NULL, (CUresult)(code)), meaning);
#include "driver/errors.def"
#undef CU_ERROR
    assert_int_equal(before, CUDA_ERROR_UNKNOWN);
    assert_string_equal(rung_cu_error_name(NULL, CUDA_SUCCESS), "CUDA_SUCCESS");
}

static CUresult null_name(CUresult code, const char **name)
{
    (void)code, (void)name;
    return CUDA_SUCCESS; /* and leaves the name NULL, as the link stub does */
}

static CUresult new_name(CUresult code, const char **name)
{
    (void)code;
    *name = "CUDA_ERROR_OF_TOMORROW";
    return CUDA_SUCCESS;
}

static void unknown_code_asks_the_driver_and_does_not_trust_it(void **state)
{
    (void)state;
    struct rung_driver driver = {.cuGetErrorName = null_name};
    assert_string_equal(rung_cu_error_name(&driver, (CUresult)998), "unknown CUDA error");
    driver.cuGetErrorName = new_name;
    assert_string_equal(rung_cu_error_name(&driver, (CUresult)998), "CUDA_ERROR_OF_TOMORROW");
    assert_string_equal(rung_cu_error_name(&driver, CUDA_ERROR_INVALID_PTX),
                        "CUDA_ERROR_INVALID_PTX");
}

static void failure_says_what_the_machine_says(void **state)
{
    (void)state;
    struct rung_driver driver = {.path = "/opt/libcuda.so.1"};
    setenv("CUDA_VISIBLE_DEVICES", "7", 1);
    struct rung_error err = {0};
    assert_int_equal(rung_driver_fail(&err, &driver, CUDA_ERROR_NO_DEVICE, "cuInit"), RUNG_DRIVER);
    assert_contains(err.text, "cuInit: CUDA_ERROR_NO_DEVICE (100)");
    assert_contains(err.text, "CUDA_VISIBLE_DEVICES is '7'");
    assert_int_equal(err.native, 100);
    unsetenv("CUDA_VISIBLE_DEVICES");
    rung_error_clear(&err);
    rung_driver_fail(&err, &driver, CUDA_ERROR_NO_DEVICE, "cuInit");
    assert_contains(err.text, "CUDA_VISIBLE_DEVICES is not set");
    rung_error_clear(&err);
    rung_driver_fail(&err, &driver, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "cuInit");
    assert_contains(err.text, "/opt/libcuda.so.1");
    assert_contains(err.text, "kernel module");
    /* The first cause stays. */
    rung_driver_fail(&err, &driver, CUDA_ERROR_UNKNOWN, "cuMemFree");
    assert_int_equal(err.native, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_library_is_named),
        cmocka_unit_test(other_library_is_no_driver),
        cmocka_unit_test(too_old_names_the_function),
        cmocka_unit_test(success_without_a_pointer_is_missing),
        cmocka_unit_test(stub_is_recognised),
        cmocka_unit_test(stub_of_the_toolkit_is_recognised),
        cmocka_unit_test(optional_functions_may_be_missing),
        cmocka_unit_test(codes_are_sorted_and_said),
        cmocka_unit_test(unknown_code_asks_the_driver_and_does_not_trust_it),
        cmocka_unit_test(failure_says_what_the_machine_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
