/* Run alone: build/tests/test_driver_device
 * Opening a device: the words, the fallback and its reason, the survey. */
#define _GNU_SOURCE
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/device.h"
#include "support/fault_driver.h"

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
        assert_null(device.driver.handle);
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

static void survey_describes_cards(void **state)
{
    (void)state;
    struct rung_driver driver;
    struct rung_survey survey;
    rung_driver_open_sim(&driver);
    driver.kind = RUNG_DRIVER_CUDA; /* what it says is looked at as a card's */
    rung_device_survey_with(&survey, &driver);
    assert_string_equal(survey.why, "");
    assert_int_equal(survey.driver_version, 13000);
    assert_int_equal(survey.n_cards, 1);
    assert_int_equal(survey.cards[0].cc, 121);
    assert_int_equal(survey.cards[0].sm_count, 16);
    assert_string_equal(survey.cards[0].name, "rung PTX simulator (no timing)");
    assert_string_equal(survey.cards[0].pci, "0000:00:00.0");
    assert_string_equal(survey.cards[0].uuid, "GPU-72756e67-2073-696d-756c-61746f720000");
}

static void simulator_is_a_device(void **state)
{
    (void)state;
    struct rung_device device;
    struct rung_error err = {0};
    char why[512] = "?";
    unsetenv("RUNG_SIM_CC");
    assert_int_equal(rung_device_open(&device, "sim", NULL, why, &err), RUNG_OK);
    assert_string_equal(why, "");
    assert_int_equal(device.driver.kind, RUNG_DRIVER_SIM);
    assert_string_equal(device.driver.path, "(built in)");
    assert_string_equal(device.name, "rung PTX simulator (no timing)");
    assert_string_equal(device.uuid, "GPU-72756e67-2073-696d-756c-61746f720000");
    assert_int_equal(device.cc, 121);
    assert_int_equal(device.driver_version, 13000);
    assert_int_equal(device.sm_count, 16);
    assert_int_equal(device.warp_size, 32);
    assert_int_equal(device.max_threads_per_block, 1024);
    assert_int_equal(device.max_grid_x, INT_MAX);
    assert_int_equal(device.shared_bytes_per_block, 49152);
    assert_true(device.memory_bytes > 0);
    rung_device_close(&device);
    assert_null(device.context);
    rung_device_close(&device);
}

static void auto_falls_back_and_says_why(void **state)
{
    (void)state;
    struct rung_device device;
    struct rung_error err = {0};
    char why[512] = "";
    setenv("FAKE_CUDA", "nodevice", 1);
    assert_int_equal(rung_device_open(&device, "auto", RUNG_FAKE_CUDA, why, &err), RUNG_OK);
    assert_int_equal(device.driver.kind, RUNG_DRIVER_SIM);
    assert_contains(why, "CUDA_ERROR_NO_DEVICE");
    assert_null(strchr(why, '\n'));
    assert_int_equal(err.status, RUNG_OK);
    rung_device_close(&device);
}

static void wrong_settings_name_the_variable(void **state)
{
    (void)state;
    struct rung_device device;
    struct rung_error err = {0};
    setenv("RUNG_SIM_CC", "52", 1);
    assert_int_equal(rung_device_open(&device, "sim", NULL, NULL, &err), RUNG_USAGE);
    assert_contains(err.text, "RUNG_SIM_CC='52'");
    assert_contains(err.text, "75, 80");
    unsetenv("RUNG_SIM_CC");
    rung_error_clear(&err);
    setenv("RUNG_SIM_MEMORY", "lots", 1);
    assert_int_equal(rung_device_open(&device, "sim", NULL, NULL, &err), RUNG_USAGE);
    assert_contains(err.text, "RUNG_SIM_MEMORY='lots'");
    unsetenv("RUNG_SIM_MEMORY");
}

static void ordinal_out_of_range_names_what_there_is(void **state)
{
    (void)state;
    struct rung_device device;
    struct rung_driver driver;
    struct rung_error err = {0};
    rung_driver_open_sim(&driver);
    assert_int_equal(rung_device_open_with(&device, &driver, 1, &err), RUNG_UNABLE);
    assert_contains(err.text, "cuda:1");
    assert_contains(err.text, "1 card, cuda:0");
}

/* Fails every call of opening a device in turn. */
static void every_failure_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    struct rung_driver sim, driver;
    rung_driver_open_sim(&sim);
    unsigned k = 0;
    for (;; k++) {
        struct rung_device device;
        struct rung_error err = {0};
        fault_driver_make(&driver, &sim, k, CUDA_ERROR_ECC_UNCORRECTABLE);
        unsigned long long before = fault_driver_live();
        enum rung_status status = rung_device_open_with(&device, &driver, 0, &err);
        if (!fault_driver_fired()) {
            assert_int_equal(status, RUNG_OK);
            assert_int_equal(fault_driver_live(), before + 2); /* context and stream */
            rung_device_close(&device);
            assert_int_equal(fault_driver_live(), before);
            break;
        }
        assert_int_equal(status, RUNG_DRIVER);
        assert_int_equal(err.native, CUDA_ERROR_ECC_UNCORRECTABLE);
        assert_contains(err.text, fault_driver_fired());
        assert_contains(err.text, "CUDA_ERROR_ECC_UNCORRECTABLE (214)");
        assert_int_equal(fault_driver_live(), before);
        assert_null(device.context);
    }
    assert_int_equal(k, 17); /* cuInit, version, count, get, name, memory, 8 numbers, 3 to open */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_words_are_usage),
        cmocka_unit_test(card_failures_are_told),
        cmocka_unit_test(survey_says_why_not),
        cmocka_unit_test(survey_describes_cards),
        cmocka_unit_test(simulator_is_a_device),
        cmocka_unit_test(auto_falls_back_and_says_why),
        cmocka_unit_test(wrong_settings_name_the_variable),
        cmocka_unit_test(ordinal_out_of_range_names_what_there_is),
        cmocka_unit_test(every_failure_is_reported_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
