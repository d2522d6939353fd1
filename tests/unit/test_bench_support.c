/* generated/support/timing.ptx is what NVRTC 13.0 makes of ptx_src/support/timing.cu for the oldest
 * target. With RUNG_REWRITE set, writes it instead. Skipped where there is no such NVRTC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "nvrtc/nvrtc.h"

#define SOURCE RUNG_SOURCE_DIR "/ptx_src/support/timing.cu"
#define PTX RUNG_SOURCE_DIR "/generated/support/timing.ptx"

static void the_ptx_is_of_the_source(void **state)
{
    struct rung_nvrtc *nvrtc = *state;
    struct rung_error err = {0};
    char *source, *committed;
    size_t length;
    assert_int_equal(rung_file_read(&source, &length, SOURCE, &err), RUNG_OK);
    static const char *const options[] = {"--std=c++17"};
    struct rung_compile_job job = {.source = source,
                                   .name = "timing.cu",
                                   .target = "compute_75",
                                   .options = options,
                                   .n_options = 1};
    struct rung_compiled compiled;
    if (rung_nvrtc_compile(&compiled, nvrtc, &job, &err) != RUNG_OK)
        fail_msg("%s", err.text);
    if (getenv("RUNG_REWRITE"))
        assert_int_equal(rung_file_write(PTX, compiled.ptx, compiled.ptx_length, &err), RUNG_OK);
    assert_int_equal(rung_file_read(&committed, &length, PTX, &err), RUNG_OK);
    assert_string_equal(committed, compiled.ptx);
    free(committed);
    free(source);
    rung_compiled_release(&compiled);
}

int main(void)
{
    struct rung_nvrtc *nvrtc;
    if (rung_nvrtc_open(&nvrtc, NULL, NULL) != RUNG_OK)
        return 77;
    if (strcmp(rung_nvrtc_version(nvrtc), "13.0") != 0) {
        rung_nvrtc_close(nvrtc);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(the_ptx_is_of_the_source, nvrtc),
    };
    int result = cmocka_run_group_tests(tests, NULL, NULL);
    rung_nvrtc_close(nvrtc);
    return result;
}
