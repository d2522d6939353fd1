/* What is said of librung before its time is believed: a sum that is wrong, a write outside of the
 * result, and a size that does not fit, on a simulator whose launches are tampered with. */
#include "support/sim_fixture.h"

#include "bench/library.h"
#include "sum/shape.h"

static CUresult (*launch_as_it_is)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   unsigned, unsigned, CUstream, void **, void **);
static uint64_t tampered_at; /* bytes past the result that a launch overwrites */

static CUresult tamper(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       CUstream stream, void **params, void **extra)
{
    const struct rung_sum_call *call = params[0];
    CUresult code = launch_as_it_is(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                    shared_bytes, stream, params, extra);
    return code ? code : cu.cuMemsetD8(call->out + tampered_at, 0x11, 1);
}

/* The simulator has a seed, with which blocks that wait for others would wait for ever. */
static void measure(struct rung_library_row *row, uint64_t n, bool tampering, bool checks)
{
    struct rung_device device;
    struct rung_driver driver = cu;
    struct rung_error err = {0};
    launch_as_it_is = cu.cuLaunchKernel;
    if (tampering)
        driver.cuLaunchKernel = tamper;
    cu.sim->set_options(&(struct rung_sim_options){.threads = 1, .check = checks, .seed = 1});
    assert_int_equal(rung_device_open_with(&device, &driver, 0, &err), RUNG_OK);
    assert_int_equal(rung_device_checks(&device), checks);
    const struct rung_library_request request = {
        .op = RUNG_OP_DOT, .type = RUNG_TYPE_F32, .n = n, .all_patterns = true};
    if (rung_library_measure(row, &device, &request, &err) != RUNG_OK)
        fail_msg("%s", err.text);
    rung_device_close(&device);
    assert_code(cu.cuCtxSetCurrent(NULL), CUDA_SUCCESS);
}

static void right_sums(void **state)
{
    (void)state;
    for (int checks = 0; checks < 2; checks++) {
        struct rung_library_row row;
        measure(&row, 1001, false, checks);
        assert_string_equal(row.reason, "");
        assert_true(row.correct);
        assert_int_equal(row.status, RUNG_ROW_OK);
        assert_string_equal(row.form, "block");
        assert_int_equal(row.runs, 8); /* ones, weights, four bits, two of random numbers */
        assert_int_equal(row.bytes, 8008);
        measure(&row, 20003, false, checks);
        assert_true(row.correct);
        assert_true(row.blocks > 1);
    }
}

static void wrong_sum(void **state)
{
    (void)state;
    struct rung_library_row row;
    tampered_at = 3;
    measure(&row, 1001, true, false);
    assert_false(row.correct);
    assert_int_equal(row.status, RUNG_ROW_WRONG);
    assert_contains(row.reason, "n = 1001, ");
    assert_contains(row.reason, " instead of ");
}

static void write_behind_the_result(void **state)
{
    (void)state;
    struct rung_library_row row;
    tampered_at = 4;
    measure(&row, 1001, true, false);
    assert_false(row.correct);
    assert_int_equal(row.status, RUNG_ROW_WRONG);
    assert_contains(row.reason, "n = 1001, ");
    assert_contains(row.reason, "byte 0 of the guard behind the partial sums");
}

static void size_that_does_not_fit(void **state)
{
    (void)state;
    struct rung_device device;
    struct rung_error err = {0};
    const struct rung_driver driver = cu;
    struct rung_library_request request = {.op = RUNG_OP_SUM, .type = RUNG_TYPE_F64, .n = 1000};
    assert_int_equal(rung_device_open_with(&device, &driver, 0, &err), RUNG_OK);
    assert_int_equal(rung_library_fits(&device, &request, &err), RUNG_OK);
    request.n = UINT64_C(1) << 40;
    assert_int_equal(rung_library_fits(&device, &request, &err), RUNG_USAGE);
    assert_contains(err.text, "n = 1099511627776 does not fit");
    rung_device_close(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        sim_test(right_sums),
        sim_test(wrong_sum),
        sim_test(write_behind_the_result),
        sim_test(size_that_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
