/* Numbers and lists of numbers as a user types them. */
#include "config/config.h"

#include <stdlib.h>
#include <string.h>

#define LIST_MAX 4096

enum reading { READ, NOT_A_NUMBER, TOO_LARGE };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static enum reading read_digits(uint64_t *out, const char **at)
{
    if (!is_digit(**at))
        return NOT_A_NUMBER;
    uint64_t value = 0;
    for (; is_digit(**at); ++*at) {
        uint64_t digit = (uint64_t)(**at - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return TOO_LARGE;
        value = value * 10 + digit;
    }
    *out = value;
    return READ;
}

static enum reading multiply(uint64_t *value, uint64_t factor)
{
    if (factor && *value > UINT64_MAX / factor)
        return TOO_LARGE;
    *value *= factor;
    return READ;
}

static enum reading power(uint64_t *value, uint64_t exponent)
{
    uint64_t base = *value;
    if (base < 2) { /* 0^0 is 1, and the loop below must not run 2^63 times */
        *value = exponent == 0 ? 1 : base;
        return READ;
    }
    *value = 1;
    for (; exponent; exponent--)
        if (multiply(value, base) != READ)
            return TOO_LARGE;
    return READ;
}

/* digits [^ digits] [Ki|Mi|Gi] */
static enum reading read_term(uint64_t *out, const char **at)
{
    static const struct {
        const char *suffix;
        unsigned shift;
    } suffixes[] = {
        {"Ki", 10},
        {"Mi", 20},
        {"Gi", 30}
    };
    uint64_t value;
    enum reading reading = read_digits(&value, at);
    if (reading == READ && **at == '^') {
        ++*at;
        uint64_t exponent;
        reading = read_digits(&exponent, at);
        if (reading == READ)
            reading = power(&value, exponent);
    }
    for (size_t i = 0; reading == READ && i < sizeof suffixes / sizeof *suffixes; i++)
        if (strncmp(*at, suffixes[i].suffix, 2) == 0) {
            *at += 2;
            reading = multiply(&value, (uint64_t)1 << suffixes[i].shift);
            break;
        }
    if (reading == READ)
        *out = value;
    return reading;
}

/* term { (+|-) term }; leaves *at at the first character that is none of it. */
static enum reading read_sum(uint64_t *out, const char **at)
{
    uint64_t value;
    enum reading reading = read_term(&value, at);
    while (reading == READ && (**at == '+' || **at == '-')) {
        bool minus = *(*at)++ == '-';
        uint64_t term = 0;
        reading = read_term(&term, at);
        if (reading == READ && (minus ? term > value : term > UINT64_MAX - value))
            return TOO_LARGE;
        value = minus ? value - term : value + term;
    }
    if (reading == READ && value > RUNG_N_MAX)
        return TOO_LARGE;
    if (reading == READ)
        *out = value;
    return reading;
}

static enum rung_status refuse(enum reading reading, const char *text, size_t length,
                               struct rung_error *err)
{
    if (length == 0)
        return rung_fail(err, RUNG_USAGE, "an empty value: a whole number must stand there");
    if (reading == TOO_LARGE)
        return rung_fail(err, RUNG_USAGE, "'%.*s' is out of range: 0 ... 2^40", (int)length, text);
    return rung_fail(err, RUNG_USAGE,
                     "'%.*s' is not a whole number from 0 to 2^40: write 1000, 64Ki, 2^24 or "
                     "2^24-611 (suffixes Ki, Mi, Gi)",
                     (int)length, text);
}

enum rung_status rung_parse_n(uint64_t *out, const char *text, struct rung_error *err)
{
    const char *at = text;
    uint64_t value = 0;
    enum reading reading = read_sum(&value, &at);
    if (reading == READ && *at)
        reading = NOT_A_NUMBER;
    if (reading != READ)
        return refuse(reading, text, strlen(text), err);
    *out = value;
    return RUNG_OK;
}

struct list {
    uint64_t *values;
    size_t count;
};

static bool list_add(struct list *list, uint64_t value)
{
    if (list->count == LIST_MAX)
        return false;
    list->values[list->count++] = value;
    return true;
}

struct range {
    uint64_t first, last, step;
    bool geometric;
};

/* `first`, `first:last`, `first:last:step` or `first:last:*factor`, ending at `end`. */
static enum reading read_range(struct range *out, const char *at, const char *end)
{
    struct range range = {.step = 1};
    enum reading reading = read_sum(&range.first, &at);
    range.last = range.first;
    if (reading == READ && *at == ':') {
        at++;
        reading = read_sum(&range.last, &at);
    }
    if (reading == READ && *at == ':') {
        at++;
        range.geometric = *at == '*';
        at += range.geometric;
        reading = read_sum(&range.step, &at);
    }
    *out = range;
    return reading == READ && at != end ? NOT_A_NUMBER : reading;
}

static enum rung_status expand(struct list *list, const char *item, size_t length,
                               struct rung_error *err)
{
    struct range range;
    enum reading reading = read_range(&range, item, item + length);
    if (reading != READ && (length == 0 || !memchr(item, ':', length)))
        return refuse(reading, item, length, err);
    if (reading != READ)
        return rung_fail(
            err, RUNG_USAGE,
            "'%.*s' is not a range: write 1:4, 1:9:2 or 64:1024:*2, numbers 0 ... 2^40",
            (int)length, item);
    if (range.first > range.last)
        return rung_fail(err, RUNG_USAGE, "range '%.*s' runs backwards", (int)length, item);
    if (range.step == 0 || (range.geometric && (range.step < 2 || range.first == 0)))
        return rung_fail(err, RUNG_USAGE,
                         "range '%.*s' never ends: a step is at least 1; a factor at least 2, and "
                         "its first value at least 1",
                         (int)length, item);
    for (uint64_t value = range.first; value <= range.last;
         value = range.geometric ? value * range.step : value + range.step) {
        if (!list_add(list, value))
            return rung_fail(err, RUNG_USAGE, "'%.*s' makes the list longer than %d values",
                             (int)length, item, LIST_MAX);
        if (range.geometric && value > range.last / range.step)
            break; /* the next product could overflow */
    }
    return RUNG_OK;
}

enum rung_status rung_parse_numbers(uint64_t **values, size_t *count, const char *text,
                                    struct rung_error *err)
{
    struct list list = {.values = malloc(LIST_MAX * sizeof *list.values)};
    if (!list.values)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    enum rung_status status = RUNG_OK;
    for (const char *item = text; status == RUNG_OK;) {
        size_t length = strcspn(item, ",");
        status = expand(&list, item, length, err);
        item += length;
        if (!*item)
            break;
        item++;
    }
    if (status != RUNG_OK) {
        free(list.values);
        return status;
    }
    *values = list.values;
    *count = list.count;
    return RUNG_OK;
}
