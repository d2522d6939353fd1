/* Journals: every cut and every damaged line leaves what is whole, appending goes on after a cut,
 * and two writers are refused. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "sweep/journal.h"

static char path[] = "/tmp/rung-journal-XXXXXX";

static int fresh_file(void **state)
{
    (void)state;
    strcpy(path + strlen(path) - 6, "XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    close(fd);
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static struct rung_cell cell_of(unsigned version)
{
    return (struct rung_cell){
        .config = {.version = version, .block = 64},
          .n = 1000, .target = 75
    };
}

static void append(struct rung_journal *journal, unsigned version, double time_ms)
{
    struct rung_cell cell = cell_of(version);
    struct rung_row row;
    assert_int_equal(rung_cell_row(&row, &cell, NULL), RUNG_OK);
    row.time_ms = (struct rung_times){true, time_ms, time_ms, time_ms, time_ms, NULL, 0};
    struct rung_error err = {0};
    if (rung_journal_append_row(journal, &row, &err) != RUNG_OK)
        fail_msg("%s", err.text);
    rung_row_release(&row);
}

static void open_journal(struct rung_journal *journal, struct rung_results *found)
{
    struct rung_error err = {0};
    if (rung_journal_open(journal, found, path, &err) != RUNG_OK)
        fail_msg("%s", err.text);
}

/* A run of three rows and its end; returns the bytes. */
static char *write_sample(size_t *length)
{
    struct rung_journal journal;
    struct rung_results found;
    open_journal(&journal, &found);
    rung_results_release(&found);
    json_t *run =
        json_pack("{s:s, s:s, s:i}", "record", "run", "schema", RUNG_JOURNAL_SCHEMA, "seed", 7);
    assert_int_equal(rung_journal_append(&journal, run, NULL), RUNG_OK);
    for (unsigned version = 1; version <= 3; version++)
        append(&journal, version, version);
    json_t *end = json_pack("{s:s, s:s}", "record", "end", "status", "ok");
    assert_int_equal(rung_journal_append(&journal, end, NULL), RUNG_OK);
    assert_int_equal(rung_journal_close(&journal, NULL), RUNG_OK);
    char *data;
    assert_int_equal(rung_file_read(&data, length, path, NULL), RUNG_OK);
    return data;
}

static void reads_back_what_was_written(void **state)
{
    (void)state;
    size_t length;
    free(write_sample(&length));
    struct rung_results results;
    assert_int_equal(rung_results_load(&results, path, NULL), RUNG_OK);
    assert_int_equal(results.n_rows, 3);
    assert_int_equal(results.n_left_out, 0);
    assert_true(results.ended);
    assert_string_equal(results.rows[1].key, "v2-b64-const n=1000 sm_75 auto clean isolated");
    assert_true(results.rows[1].row.time_ms.median == 2);
    assert_int_equal(
        json_integer_value(rung_results_run_field(&results, results.rows[0].run, "seed")), 7);
    char key[RUNG_CELL_KEY_SIZE];
    struct rung_cell cell = cell_of(3);
    rung_cell_key(&cell, key);
    assert_ptr_equal(rung_results_find(&results, key), &results.rows[2]);
    assert_null(rung_results_find(&results, "v9-b64-const"));
    rung_results_release(&results);
}

/* The number of whole rows in the first `length` bytes: a line is whole once its last brace is. */
static size_t rows_within(const char *data, size_t length)
{
    size_t rows = 0, at = 0;
    while (at < length) {
        const char *newline = strchr(data + at, '\n');
        size_t end = (size_t)(newline - data);
        bool is_row = memmem(data + at, end - at, "\"record\":\"row\"", 14) != NULL;
        rows += is_row && length >= end;
        at = end + 1;
    }
    return rows;
}

static void every_cut_keeps_the_whole_rows(void **state)
{
    (void)state;
    size_t length;
    char *data = write_sample(&length);
    for (size_t cut = 0; cut <= length; cut++) {
        char *part = calloc(cut + 1, 1);
        memcpy(part, data, cut);
        struct rung_results results;
        struct rung_error err = {0};
        enum rung_status status = rung_results_read(&results, part, cut, "cut", &err);
        if (status != RUNG_OK) { /* not even the first line is whole */
            assert_int_equal(status, RUNG_USAGE);
            assert_true(cut < (size_t)(strchr(data, '\n') - data));
        } else {
            assert_int_equal(results.n_rows, rows_within(data, cut));
            assert_true(results.n_left_out <= 1);
            rung_results_release(&results);
        }
        free(part);
    }
    free(data);
}

/* After a cut anywhere behind the first line, appending the missing rows gives all three, once. */
static void appending_goes_on_after_every_cut(void **state)
{
    (void)state;
    size_t length;
    char *data = write_sample(&length);
    size_t first_line = (size_t)(strchr(data, '\n') - data);
    for (size_t cut = first_line; cut <= length; cut++) {
        assert_int_equal(rung_file_write(path, data, cut, NULL), RUNG_OK);
        struct rung_journal journal;
        struct rung_results found, results;
        open_journal(&journal, &found);
        for (unsigned version = 1; version <= 3; version++) {
            char key[RUNG_CELL_KEY_SIZE];
            struct rung_cell cell = cell_of(version);
            rung_cell_key(&cell, key);
            if (!rung_results_find(&found, key))
                append(&journal, version, version);
        }
        rung_results_release(&found);
        assert_int_equal(rung_journal_close(&journal, NULL), RUNG_OK);
        assert_int_equal(rung_results_load(&results, path, NULL), RUNG_OK);
        assert_int_equal(results.n_rows, 3);
        assert_int_equal(results.n_replaced, 0);
        rung_results_release(&results);
    }
    free(data);
}

static void read_text(struct rung_results *results, const char *text)
{
    struct rung_error err = {0};
    if (rung_results_read(results, text, strlen(text), "test", &err) != RUNG_OK)
        fail_msg("%s", err.text);
}

static void hand_edits_are_named_by_line(void **state)
{
    (void)state;
    size_t length;
    char *data = write_sample(&length);
    char *second_row = strstr(data, "\"v2-b64-const\"");
    second_row[2] = '9'; /* the id now contradicts the version beside it */
    struct rung_results results;
    read_text(&results, data);
    assert_int_equal(results.n_rows, 2);
    assert_int_equal(results.n_left_out, 1);
    assert_int_equal(results.left_out[0].line, 3);
    assert_non_null(strstr(results.left_out[0].why, "v9-b64-const"));
    rung_results_release(&results);
    free(data);
    read_text(&results, "{\"record\": \"run\", \"schema\": \"rung-journal/1\"}\n\n"
                        "{\"record\": \"row\", \"id\": \"v1-b64-const\"}\n"
                        "{\"record\": \"later\"}\nnonsense\n[1]\n");
    assert_int_equal(results.n_rows, 0);
    assert_int_equal(results.n_left_out, 3);
    assert_int_equal(results.left_out[0].line, 3);
    assert_non_null(strstr(results.left_out[0].why, "version"));
    assert_int_equal(results.left_out[1].line, 5);
    assert_int_equal(results.left_out[2].line, 6);
    rung_results_release(&results);
}

static void a_later_row_replaces_an_earlier_one(void **state)
{
    (void)state;
    struct rung_journal journal;
    struct rung_results results;
    open_journal(&journal, &results);
    rung_results_release(&results);
    append(&journal, 1, 5);
    append(&journal, 2, 6);
    append(&journal, 1, 7);
    assert_int_equal(rung_journal_close(&journal, NULL), RUNG_OK);
    assert_int_equal(rung_results_load(&results, path, NULL), RUNG_OK);
    assert_int_equal(results.n_rows, 2);
    assert_int_equal(results.n_replaced, 1);
    assert_true(results.rows[1].row.time_ms.median == 7);
    rung_results_release(&results);
}

static void other_schemas_are_named(void **state)
{
    (void)state;
    struct rung_results results;
    struct rung_error err = {0};
    const char *journal = "{\"record\": \"run\", \"schema\": \"rung-journal/9\"}\n";
    assert_int_equal(rung_results_read(&results, journal, strlen(journal), "f", &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "rung-journal/9"));
    rung_error_clear(&err);
    const char *document = "{\"schema\": \"rung/2\", \"rows\": []}";
    assert_int_equal(rung_results_read(&results, document, strlen(document), "f", &err),
                     RUNG_USAGE);
    assert_non_null(strstr(err.text, "rung/2"));
    rung_error_clear(&err);
    assert_int_equal(rung_results_read(&results, "hello", 5, "f", &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "line 1"));
    rung_error_clear(&err);
    assert_int_equal(rung_results_load(&results, "/nonexistent/file", &err), RUNG_IO);
}

static void a_document_is_read_as_well(void **state)
{
    (void)state;
    struct rung_cell cell = cell_of(4);
    struct rung_row row;
    assert_int_equal(rung_cell_row(&row, &cell, NULL), RUNG_OK);
    json_t *document =
        json_pack("{s:s, s:s, s:[s], s:{s:s}, s:[o]}", "schema", "rung/1", "command", "run", "argv",
                  "rung", "environment", "date", "today", "rows", rung_row_to_json(&row));
    rung_row_release(&row);
    char *text = json_dumps(document, JSON_INDENT(2));
    json_decref(document);
    struct rung_results results;
    read_text(&results, text);
    assert_int_equal(results.n_rows, 1);
    assert_true(results.ended);
    assert_string_equal(json_string_value(json_object_get(
                            rung_results_run_field(&results, 0, "environment"), "date")),
                        "today");
    rung_results_release(&results);
    free(text);
}

static void an_empty_file_has_no_rows(void **state)
{
    (void)state;
    struct rung_results results;
    read_text(&results, "");
    assert_int_equal(results.n_rows, 0);
    rung_results_release(&results);
}

static void two_writers_are_refused(void **state)
{
    (void)state;
    struct rung_journal journal;
    struct rung_results found;
    open_journal(&journal, &found);
    rung_results_release(&found);
    pid_t child = fork();
    if (child == 0) { /* a record lock does not keep its own process out */
        struct rung_journal second;
        struct rung_error err = {0};
        enum rung_status status = rung_journal_open(&second, &found, path, &err);
        _exit(status == RUNG_USAGE && strstr(err.text, "another sweep") ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    assert_int_equal(rung_journal_close(&journal, NULL), RUNG_OK);
    open_journal(&journal, &found); /* released with the file */
    rung_results_release(&found);
    assert_int_equal(rung_journal_close(&journal, NULL), RUNG_OK);
}

/* A record alone in its file is still a record, although one that ends a run counts "rows". */
static void a_lone_record_is_no_document(void **state)
{
    (void)state;
    static const char end[] = "{\"record\":\"end\",\"status\":\"interrupted\",\"rows\":0}\n";
    struct rung_results results;
    struct rung_error err = {0};
    assert_int_equal(rung_results_read(&results, end, sizeof end - 1, "lone", &err), RUNG_OK);
    assert_int_equal(results.n_rows, 0);
    assert_int_equal(results.n_left_out, 0);
    rung_results_release(&results);
    static const char five[] = "{\"schema\":\"rung/1\",\"rows\":5}";
    assert_int_equal(rung_results_read(&results, five, sizeof five - 1, "five", &err), RUNG_USAGE);
    assert_string_equal(err.text, "five: 'rows' is not a list");
}

static void an_unwritable_file_is_found_at_once(void **state)
{
    (void)state;
    struct rung_journal journal;
    struct rung_results found;
    struct rung_error err = {0};
    assert_int_equal(rung_journal_open(&journal, &found, "/nonexistent/journal", &err), RUNG_IO);
    assert_non_null(strstr(err.text, "/nonexistent/journal cannot be written"));
    rung_error_clear(&err);
    assert_int_equal(rung_journal_open(&journal, &found, "/dev/null", &err), RUNG_IO);
    assert_non_null(strstr(err.text, "regular file"));
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, fresh_file, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(reads_back_what_was_written),
        FRESH(every_cut_keeps_the_whole_rows),
        FRESH(appending_goes_on_after_every_cut),
        FRESH(hand_edits_are_named_by_line),
        FRESH(a_later_row_replaces_an_earlier_one),
        cmocka_unit_test(other_schemas_are_named),
        cmocka_unit_test(a_document_is_read_as_well),
        cmocka_unit_test(an_empty_file_has_no_rows),
        cmocka_unit_test(a_lone_record_is_no_document),
        FRESH(two_writers_are_refused),
        cmocka_unit_test(an_unwritable_file_is_found_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
