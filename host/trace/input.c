/* Reading and making the input of a traced block. */
#include "trace/input.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static const struct {
    const char *word;
    enum rung_trace_pattern pattern;
} words[] = {
    {"ones",        RUNG_TRACE_ONES       },
    {"iota",        RUNG_TRACE_IOTA       },
    {"alternating", RUNG_TRACE_ALTERNATING},
    {"random",      RUNG_TRACE_RANDOM     }
};

#define SEPARATORS ", \t\r\n"

static enum rung_status append(struct rung_trace_input *out, struct rung_arena *arena, double value,
                               uint64_t *room, const char *option, struct rung_error *err)
{
    if (out->n_values == RUNG_TRACE_INPUT_MAX)
        return rung_fail(err, RUNG_USAGE, "%s: more than %llu numbers", option,
                         (unsigned long long)RUNG_TRACE_INPUT_MAX);
    if (out->n_values == *room) {
        *room = *room ? 2 * *room : 64;
        double *values = rung_arena_array(arena, *room, sizeof *values);
        if (!values)
            return rung_fail(err, RUNG_MEMORY, "out of memory for %s", option);
        if (out->n_values)
            memcpy(values, out->values, out->n_values * sizeof *values);
        out->values = values;
    }
    out->values[out->n_values++] = value;
    return RUNG_OK;
}

static enum rung_status read_numbers(struct rung_trace_input *out, struct rung_arena *arena,
                                     const char *option, const char *text, struct rung_error *err)
{
    uint64_t room = 0;
    for (text += strspn(text, SEPARATORS); *text; text += strspn(text, SEPARATORS)) {
        size_t length = strcspn(text, SEPARATORS);
        int shown = length < 40 ? (int)length : 40;
        char *end;
        double value = strtod(text, &end);
        if (end != text + length)
            return rung_fail(err, RUNG_USAGE, "%s: number %llu is '%.*s', which is none", option,
                             (unsigned long long)out->n_values + 1, shown, text);
        if (!isfinite(value))
            return rung_fail(err, RUNG_USAGE, "%s: number %llu is '%.*s'; finite ones are allowed",
                             option, (unsigned long long)out->n_values + 1, shown, text);
        enum rung_status status = append(out, arena, value, &room, option, err);
        if (status != RUNG_OK)
            return status;
        text += length;
    }
    if (out->n_values == 0)
        return rung_fail(err, RUNG_USAGE, "%s: no numbers in '%s'", option, out->word);
    return RUNG_OK;
}

/* A list on the command line has a comma, or is one number. */
static bool is_list(const char *word)
{
    char *end;
    (void)strtod(word, &end);
    return strchr(word, ',') != NULL || (end != word && *end == '\0');
}

/* Between two commas of a command line stands a number; in a file commas may trail a line. */
static bool has_gap(const char *list)
{
    size_t length = strlen(list);
    return list[0] == ',' || list[length - 1] == ',' || strstr(list, ",,");
}

static enum rung_status read_file(struct rung_trace_input *out, struct rung_arena *arena,
                                  const char *option, const char *path, struct rung_error *err)
{
    if (strcmp(path, "-") != 0 && !rung_file_exists(path))
        return rung_fail(err, RUNG_USAGE,
                         "%s '%s': no such file, and neither ones, iota, alternating, random nor a "
                         "list such as 1,2,3",
                         option, path);
    char *data = NULL;
    size_t length;
    enum rung_status status = rung_file_read(&data, &length, path, err);
    if (status == RUNG_OK && strlen(data) != length)
        status = rung_fail(err, RUNG_USAGE, "%s '%s': not a text file", option, path);
    if (status == RUNG_OK)
        status = read_numbers(out, arena, option, data, err);
    free(data);
    return status;
}

enum rung_status rung_trace_input_read(struct rung_trace_input *out, struct rung_arena *arena,
                                       const char *option, const char *word, struct rung_error *err)
{
    *out = (struct rung_trace_input){.word = word};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i].word) == 0) {
            out->pattern = words[i].pattern;
            return RUNG_OK;
        }
    if (is_list(word) && has_gap(word))
        return rung_fail(err, RUNG_USAGE, "%s '%s': an element is missing beside a comma", option,
                         word);
    if (is_list(word))
        return read_numbers(out, arena, option, word, err);
    return read_file(out, arena, option, word, err);
}

/* SplitMix64 (Steele, Lea, Flood 2014): every index its own value, whatever the order. */
static uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static double element(const struct rung_trace_input *input, uint64_t i, uint64_t seed)
{
    switch (input->pattern) {
    case RUNG_TRACE_ONES:
        return 1;
    case RUNG_TRACE_IOTA:
        return (double)(i + 1);
    case RUNG_TRACE_ALTERNATING:
        return i % 2 ? 1 : 2;
    case RUNG_TRACE_RANDOM:
        return (double)(mix(seed ^ mix(i)) % 100);
    case RUNG_TRACE_LIST:
        break;
    }
    return input->values[i];
}

static enum rung_status convert(double *out, double value, enum rung_type type, const char *option,
                                uint64_t i, struct rung_error *err)
{
    *out = type == RUNG_TYPE_F32 ? (double)(float)value : value;
    if (type == RUNG_TYPE_F32 && fabs(value) > FLT_MAX)
        return rung_fail(err, RUNG_USAGE, "%s: number %llu, %g, is more than an f32 holds", option,
                         (unsigned long long)i + 1, value);
    bool whole = value == floor(value) && fabs(value) <= INT32_MAX;
    if (type == RUNG_TYPE_I32 && !whole)
        return rung_fail(err, RUNG_USAGE,
                         "%s: number %llu, %g, is not a whole number that an i32 holds", option,
                         (unsigned long long)i + 1, value);
    return RUNG_OK;
}

enum rung_status rung_trace_input_make(const double **out, struct rung_arena *arena,
                                       const struct rung_trace_input *input, const char *option,
                                       uint64_t n, enum rung_type type, uint64_t seed,
                                       struct rung_error *err)
{
    if (input->pattern == RUNG_TRACE_LIST && input->n_values != n)
        return rung_fail(err, RUNG_USAGE, "%s has %llu numbers, and there are %llu elements",
                         option, (unsigned long long)input->n_values, (unsigned long long)n);
    double *values = rung_arena_array(arena, n, sizeof *values);
    if (!values)
        return rung_fail(err, RUNG_MEMORY, "out of memory for %s", option);
    for (uint64_t i = 0; i < n; i++) {
        enum rung_status status =
            convert(&values[i], element(input, i, seed), type, option, i, err);
        if (status != RUNG_OK)
            return status;
    }
    *out = values;
    return RUNG_OK;
}
