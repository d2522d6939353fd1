/* What a journal says of the card, over an NVML of the tests; and of the host. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sweep/provenance.h"

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        fail_msg("'%s' is no number", key);
    return json_number_value(value);
}

/* Clocks that came back as 0 once: the value was read before the call that fills it. */
static void the_card_is_described(void **state)
{
    (void)state;
    json_t *card = rung_provenance_card("GPU-fake");
    const json_t *clocks = json_object_get(card, "clock_mhz");
    assert_string_equal(json_string_value(json_object_get(card, "driver")), "580.1.2");
    assert_true(number(clocks, "sm") == 1980);
    assert_true(number(clocks, "memory") == 3201);
    assert_true(number(clocks, "sm_max") == 2000);
    assert_true(number(card, "temperature_c") == 38);
    assert_true(number(card, "power_w") == 181.925);
    const json_t *throttle = json_object_get(card, "throttle");
    assert_int_equal(json_array_size(throttle), 2);
    assert_string_equal(json_string_value(json_array_get(throttle, 1)), "power cap");
    assert_true(json_is_null(json_object_get(card, "ecc"))); /* not supported, so not told */
    assert_true(json_is_null(json_object_get(card, "mig"))); /* the function is missing */
    assert_true(json_is_null(json_object_get(card, "power_limit_w")));
    json_decref(card);
}

static void an_unknown_card_has_a_reason(void **state)
{
    (void)state;
    json_t *card = rung_provenance_card("GPU-other");
    const char *why = json_string_value(json_object_get(card, "unavailable"));
    assert_non_null(why);
    assert_non_null(strstr(why, "does not know"));
    json_decref(card);
    card = rung_provenance_card("");
    assert_true(json_is_null(card));
    json_decref(card);
}

static void the_host_shows_its_variables(void **state)
{
    (void)state;
    setenv("CUDA_TEST_OF_RUNG", "x=y", 1);
    setenv("UNRELATED_TO_RUNG", "z", 1);
    json_t *host = rung_provenance_host();
    const json_t *variables = json_object_get(host, "variables");
    assert_string_equal(json_string_value(json_object_get(variables, "CUDA_TEST_OF_RUNG")), "x=y");
    assert_null(json_object_get(variables, "UNRELATED_TO_RUNG"));
    assert_true(json_is_string(json_object_get(host, "system")));
    json_decref(host);
}

int main(void)
{
    /* Its name is that of the real one, so that the program's own dlopen finds this. */
    if (!dlopen(RUNG_FAKE_NVML, RTLD_NOW | RTLD_LOCAL))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_card_is_described),
        cmocka_unit_test(an_unknown_card_has_a_reason),
        cmocka_unit_test(the_host_shows_its_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
