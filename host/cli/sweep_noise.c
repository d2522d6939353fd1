/* Owns the result of a noise sweep. */
#include "cli/sweep_noise.h"

#include <stdio.h>

#include "cli/print_compare.h"

static enum rung_status write_records(const struct rung_comparison *comparison,
                                      struct rung_journal *journal, struct rung_error *err)
{
    json_t *rows = rung_comparison_to_json(comparison), *row;
    enum rung_status status = RUNG_OK;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        if (status != RUNG_OK)
            break;
        json_object_set_new(row, "record", json_string("noise"));
        status = rung_journal_append(journal, json_incref(row), err);
    }
    json_decref(rows);
    return status;
}

enum rung_status rung_noise_print(const struct rung_results *a, const struct rung_results *b,
                                  struct rung_journal *journal, enum rung_format format,
                                  struct rung_error *err)
{
    struct rung_comparison comparison;
    struct rung_compare_options options = rung_compare_default();
    enum rung_status status = rung_compare(&comparison, a, b, &options, err);
    if (status != RUNG_OK)
        return status;
    status = rung_comparison_print(&comparison, true, format, stdout, err);
    size_t alarms = comparison.counts[RUNG_CHANGE_FASTER] + comparison.counts[RUNG_CHANGE_SLOWER];
    if (status == RUNG_OK && format != RUNG_FORMAT_CSV && format != RUNG_FORMAT_JSON) {
        rung_comparison_print_counts(&comparison, stdout);
        printf("%zu false alarms among %zu pairs of the same thing\n", alarms, comparison.n_rows);
        if (rung_noise_floor(&comparison) > 0)
            printf("noise floor: the medians of 95 %% of them differ by less than %.2f %%; "
                   "compare with --floor %.2f\n",
                   100 * rung_noise_floor(&comparison), 100 * rung_noise_floor(&comparison));
        else
            puts("nothing was timed, so there is no noise floor");
    }
    if (status == RUNG_OK && journal->path)
        status = write_records(&comparison, journal, err);
    rung_comparison_release(&comparison);
    return status;
}
