/* Run alone: build/tests/test_driver_device
 * Opening a device: the words, the fallback and its reason, the survey. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/device.h"

static void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' lacks '%s'", text, part);
}

static void unknown_words_are_usage(void **state)
{
    (void)state;
    static const char *const words[] = {
        "",       "gpu",     "CUDA",  "cuda:", "cuda:-1", "cuda:1.5",
        "cuda:x", "cuda: 1", "sim:0", "auto ", "cuda:1x", "cuda:99999999999999",
        "cuda:+1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct rung_device device;
        struct rung_error err = {0};
        enum rung_status status = rung_device_open(&device, words[i], NULL, NULL, &err);
        if (status != RUNG_USAGE)
            fail_msg("'%s' gave status %d: %s", words[i], status, err.text);
        assert_contains(err.text, "auto, cuda, cuda:K");
        rung_device_close(&device);
    }
}

static void card_failures_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *way, *word, *part;
    } cases[] = {
        {"nodevice", "cuda",   "cuInit: CUDA_ERROR_NO_DEVICE (100)"},
        {"nodevice", "cuda:3", "CUDA_VISIBLE_DEVICES"              },
        {"empty",    "cuda",   "CUDA_ERROR_NO_DEVICE"              },
        {"old",      "cuda",   "lacks cuMemAlloc"                  },
        {"stub",     "cuda",   "link stub"                         },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rung_device device;
        struct rung_error err = {0};
        setenv("FAKE_CUDA", cases[i].way, 1);
        enum rung_status status =
            rung_device_open(&device, cases[i].word, RUNG_FAKE_CUDA, NULL, &err);
        assert_true(status == RUNG_UNABLE || status == RUNG_DRIVER);
        assert_contains(err.text, cases[i].part);
        assert_null(device.driver.library);
        rung_device_close(&device);
    }
}

static void survey_says_why_not(void **state)
{
    (void)state;
    struct rung_survey survey;
    setenv("FAKE_CUDA", "nodevice", 1);
    rung_device_survey(&survey, RUNG_FAKE_CUDA);
    assert_string_equal(survey.path, RUNG_FAKE_CUDA);
    assert_int_equal(survey.n_cards, 0);
    assert_contains(survey.why, "CUDA_ERROR_NO_DEVICE");
    rung_device_survey(&survey, "/nonexistent/libcuda.so.1");
    assert_string_equal(survey.path, "");
    assert_contains(survey.why, "/nonexistent/libcuda.so.1");
    assert_null(strchr(survey.why, '\n'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_words_are_usage),
        cmocka_unit_test(card_failures_are_told),
        cmocka_unit_test(survey_says_why_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
