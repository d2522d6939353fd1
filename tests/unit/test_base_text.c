/* Bytes that are no UTF-8: shown as '?', and never in the text of an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

static void expect_kept(const char *given, const char *wanted)
{
    char text[64];
    strcpy(text, given);
    rung_text_keep_utf8(text);
    assert_string_equal(text, wanted);
}

static void what_is_utf8_stays(void **state)
{
    (void)state;
    expect_kept("", "");
    expect_kept("plain\ttext\n", "plain\ttext\n");
    expect_kept("\xc3\xbcn\xc3\xaf \xe2\x82\xac \xf0\x9f\x90\x80",
                "\xc3\xbcn\xc3\xaf \xe2\x82\xac \xf0\x9f\x90\x80");
    expect_kept("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf",
                "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf");
}

static void what_is_none_becomes_a_question_mark(void **state)
{
    (void)state;
    expect_kept("\xff\xfe", "??");
    expect_kept("a\xfcz", "a?z");
    expect_kept("\xc3", "?");                /* cut */
    expect_kept("\xe2\x82", "??");           /* cut */
    expect_kept("\xc0\xaf", "??");           /* overlong */
    expect_kept("\xe0\x80\xaf", "???");      /* overlong */
    expect_kept("\xed\xa0\x80", "???");      /* a surrogate */
    expect_kept("\xf4\x90\x80\x80", "????"); /* beyond the last character */
    expect_kept("\xc3(", "?(");
}

static void an_error_is_utf8_even_where_it_is_cut(void **state)
{
    (void)state;
    char wide[2 * RUNG_ERROR_TEXT];
    for (size_t i = 0; i + 2 < sizeof wide; i += 2)
        memcpy(wide + i, "\xc3\xbc", 3);
    for (int shift = 0; shift < 2; shift++) { /* one of the two cuts a character */
        struct rung_error err = {0};
        rung_fail(&err, RUNG_USAGE, "%s%s", shift ? "x" : "", wide);
        char again[RUNG_ERROR_TEXT];
        strcpy(again, err.text);
        rung_text_keep_utf8(again);
        assert_string_equal(again, err.text);
        assert_string_equal(err.text + strlen(err.text) - 3, "...");
    }
}

static void a_folder_without_a_name_is_refused(void **state)
{
    (void)state;
    struct rung_error err = {0};
    assert_int_equal(rung_folder_make("", &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "an empty name"));
}

/* /dev/zero never ends: reading it stops when there is no more memory, too. */
static void reading_ends_where_memory_does(void **state)
{
    (void)state;
#if defined __SANITIZE_ADDRESS__
    skip(); /* the sanitizer wants more address space than any limit that would be met */
#endif
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    small = before;
    small.rlim_cur = (rlim_t)256 << 20;
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    struct rung_error err = {0};
    char *data = NULL;
    size_t length;
    enum rung_status status = rung_file_read(&data, &length, "/dev/zero", &err);
    setrlimit(RLIMIT_AS, &before);
    assert_int_equal(status, RUNG_MEMORY);
    assert_string_equal(err.text, "out of memory reading /dev/zero");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_utf8_stays),
        cmocka_unit_test(what_is_none_becomes_a_question_mark),
        cmocka_unit_test(an_error_is_utf8_even_where_it_is_cut),
        cmocka_unit_test(a_folder_without_a_name_is_refused),
        cmocka_unit_test(reading_ends_where_memory_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
