/* The driver's linker, played by functions of this file. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "driver/link.h"

static const char text[] = ".version 9.0";

/* What the fake was given, and what it is to answer. */
static struct {
    CUresult create, add, complete;
    const char *log;
    char *log_buffer;
    unsigned links, destroyed;
    bool saw_text;
} fake;

static CUresult CUDAAPI create(unsigned int n, CUjit_option *options, void **values,
                               CUlinkState *state)
{
    for (unsigned i = 0; i < n; i++)
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            fake.log_buffer = values[i];
    if (fake.create != CUDA_SUCCESS)
        return fake.create;
    fake.links++;
    *state = (CUlinkState)&fake;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI add(CUlinkState state, CUjitInputType type, void *data, size_t size,
                            const char *name, unsigned int n, CUjit_option *options, void **values)
{
    (void)n;
    (void)options;
    (void)values;
    assert_ptr_equal(state, &fake);
    assert_int_equal(type, CU_JIT_INPUT_PTX);
    assert_string_equal(name, "k.ptx");
    fake.saw_text = size == sizeof text && memcmp(data, text, sizeof text) == 0; /* with its NUL */
    if (fake.log)
        strcpy(fake.log_buffer, fake.log);
    return fake.add;
}

static CUresult CUDAAPI complete(CUlinkState state, void **image, size_t *size)
{
    static char cubin[] = "\177ELF and more";
    assert_ptr_equal(state, &fake);
    *image = cubin;
    *size = sizeof cubin;
    return fake.complete;
}

static CUresult CUDAAPI destroy(CUlinkState state)
{
    assert_ptr_equal(state, &fake);
    fake.destroyed++;
    return CUDA_SUCCESS;
}

static const struct rung_driver driver = {.path = "fake",
                                          .cuLinkCreate = create,
                                          .cuLinkAddData = add,
                                          .cuLinkComplete = complete,
                                          .cuLinkDestroy = destroy};

static enum rung_status link_text(unsigned char **cubin, size_t *length,
                                  const struct rung_driver *with, struct rung_error *err)
{
    char *copy = malloc(sizeof text - 1); /* without a NUL: the linker must get one all the same */
    memcpy(copy, text, sizeof text - 1);
    enum rung_status status =
        rung_driver_link(cubin, length, with, copy, sizeof text - 1, "k.ptx", err);
    free(copy);
    return status;
}

static int reset(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    return 0;
}

static void the_cubin_is_a_copy(void **state)
{
    (void)state;
    unsigned char *cubin = NULL;
    size_t length = 0;
    struct rung_error err = {0};
    assert_int_equal(link_text(&cubin, &length, &driver, &err), RUNG_OK);
    assert_true(fake.saw_text);
    assert_int_equal(length, 14);
    assert_memory_equal(cubin, "\177ELF and more", 14);
    assert_int_equal(fake.links, 1);
    assert_int_equal(fake.destroyed, 1);
    free(cubin);
}

static void a_refusal_carries_code_and_log(void **state)
{
    (void)state;
    fake.add = CUDA_ERROR_INVALID_PTX;
    fake.log = "ptxas application ptx input, line 3; error";
    unsigned char *cubin = NULL;
    size_t length = 0;
    struct rung_error err = {0};
    assert_int_equal(link_text(&cubin, &length, &driver, &err), RUNG_DRIVER);
    assert_null(cubin);
    assert_int_equal(err.native, CUDA_ERROR_INVALID_PTX);
    assert_non_null(strstr(err.text, "k.ptx: cuLinkAddData"));
    assert_non_null(strstr(err.text, "line 3; error"));
    assert_int_equal(fake.destroyed, 1);
}

static void nothing_is_destroyed_that_was_not_made(void **state)
{
    (void)state;
    fake.create = CUDA_ERROR_OUT_OF_MEMORY;
    unsigned char *cubin = NULL;
    size_t length = 0;
    struct rung_error err = {0};
    assert_int_equal(link_text(&cubin, &length, &driver, &err), RUNG_DRIVER);
    assert_int_equal(fake.destroyed, 0);
    memset(&fake, 0, sizeof fake);
    memset(&err, 0, sizeof err);
    fake.complete = CUDA_ERROR_NO_BINARY_FOR_GPU;
    assert_int_equal(link_text(&cubin, &length, &driver, &err), RUNG_DRIVER);
    assert_null(cubin);
    assert_int_equal(fake.destroyed, 1);
}

static void a_driver_without_linker_says_so(void **state)
{
    (void)state;
    struct rung_driver lacking = driver;
    lacking.cuLinkComplete = NULL;
    unsigned char *cubin = NULL;
    size_t length = 0;
    struct rung_error err = {0};
    assert_int_equal(link_text(&cubin, &length, &lacking, &err), RUNG_UNABLE);
    assert_non_null(strstr(err.text, "fake has no linker"));
    assert_int_equal(fake.links, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_cubin_is_a_copy, reset),
        cmocka_unit_test_setup(a_refusal_carries_code_and_log, reset),
        cmocka_unit_test_setup(nothing_is_destroyed_that_was_not_made, reset),
        cmocka_unit_test_setup(a_driver_without_linker_says_so, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
