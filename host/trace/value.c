/* Values, source lines and the verification as a reader writes them. */
#include "trace/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rung_trace_format_value(char text[32], double value, enum rung_type type)
{
    if (type == RUNG_TYPE_I32 || (value == floor(value) && fabs(value) < 1e9)) {
        snprintf(text, 32, "%.0f", value == 0 ? 0.0 : value);
        return;
    }
    bool is_float = type == RUNG_TYPE_F32;
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (is_float ? (float)back == (float)value : back == value)
            return;
    }
}

/* The words of lanes [first, end) by bank; returns the most that one bank serves. */
static unsigned count_words(unsigned counts[RUNG_TRACE_BANKS],
                            const struct rung_trace_access *access, unsigned per_slot,
                            unsigned first, unsigned end)
{
    unsigned seen[RUNG_TRACE_BANKS][RUNG_TRACE_LANES * 2], most = 0;
    memset(counts, 0, RUNG_TRACE_BANKS * sizeof *counts);
    for (unsigned lane = first; lane < end; lane++)
        for (unsigned w = 0; w < per_slot && (access->lanes >> lane & 1); w++) {
            unsigned word = access->slots[lane] * per_slot + w, bank = word % RUNG_TRACE_BANKS;
            unsigned i = 0;
            while (i < counts[bank] && seen[bank][i] != word)
                i++;
            if (i == counts[bank])
                seen[bank][counts[bank]++] = word;
            most = counts[bank] > most ? counts[bank] : most;
        }
    return most;
}

void rung_trace_bank_words(unsigned counts[RUNG_TRACE_BANKS],
                           const struct rung_trace_access *access, enum rung_type type)
{
    unsigned per_slot = (unsigned)rung_type_size(type) / 4, lanes = RUNG_TRACE_LANES / per_slot;
    unsigned half[RUNG_TRACE_BANKS];
    unsigned most = count_words(counts, access, per_slot, 0, lanes);
    for (unsigned first = lanes; first < RUNG_TRACE_LANES; first += lanes)
        if (count_words(half, access, per_slot, first, first + lanes) > most)
            memcpy(counts, half, sizeof half);
}

const char *rung_trace_line(const char *text, unsigned line, size_t *length)
{
    *length = 0;
    const char *at = text;
    for (unsigned i = 1; at && i < line; i++) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    if (!at || line == 0)
        return "";
    at += strspn(at, " \t");
    *length = strcspn(at, "\n");
    return at;
}

/* Terms i of n that are shown: all, or the first and the last few. */
static bool is_shown(uint64_t i, uint64_t n, size_t room)
{
    return n <= room || i < room / 2 || i >= n - room / 2;
}

static void append_value(struct rung_text *out, double value, enum rung_type type)
{
    char text[32];
    rung_trace_format_value(text, value, type);
    rung_text_format(out, value < 0 ? "(%s)" : "%s", text);
}

static void write_terms(struct rung_text *out, const struct rung_trace *trace, size_t room,
                        bool products)
{
    enum rung_type type = trace->config.type;
    bool skipped = false;
    for (uint64_t i = 0; i < trace->n; i++) {
        if (!is_shown(i, trace->n, room)) {
            if (!skipped)
                rung_text_append(out, " + …");
            skipped = true;
            continue;
        }
        rung_text_append(out, i ? " + " : "");
        double a = trace->inputs[0][i], b = trace->inputs[1] ? trace->inputs[1][i] : 1;
        if (products) {
            rung_text_append(out, "(");
            append_value(out, a, type);
            rung_text_append(out, "×");
            append_value(out, b, type);
            rung_text_append(out, ")");
        } else {
            append_value(out, a * b, type);
        }
    }
    if (trace->n == 0)
        rung_text_append(out, "0");
}

void rung_trace_write_verification(struct rung_text *out, const struct rung_trace *trace,
                                   size_t room)
{
    enum rung_type type = trace->config.type;
    if (trace->inputs[1]) {
        write_terms(out, trace, room, true);
        rung_text_append(out, "\n= ");
    }
    write_terms(out, trace, room, false);
    char expected[32], made[32] = "nothing";
    rung_trace_format_value(expected, trace->expected, type);
    if (trace->wrote)
        rung_trace_format_value(made, trace->result, type);
    rung_text_format(out, " = %s", expected);
    if (!trace->correct)
        rung_text_format(out, " ✗ but the block wrote %s", made);
    else if (strcmp(expected, made) == 0)
        rung_text_append(out, " ✓");
    else
        rung_text_format(out,
                         " ✓\n  the block made %s: the difference is within the rounding of %s",
                         made, rung_type_word(type));
}
