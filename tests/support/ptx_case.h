/* Cases of tests/ptx: reading the comments of a file, and holding the output to them. Serves the
 * simulator's tests and the one on a card; says on stderr what is wrong. */
#ifndef RUNG_TESTS_SUPPORT_PTX_CASE_H
#define RUNG_TESTS_SUPPORT_PTX_CASE_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the entry `test` is given: .u64 out and .u64 in. */
#define PTX_CASE_OUT_BYTES 8192 /* 0xcd each */
#define PTX_CASE_IN_WORDS 1024  /* each its index */

/* The rest of the line behind `mark`, from `*at` on; false when there is none left. */
static inline bool ptx_case_line(char line[512], const char **at, const char *mark)
{
    const char *found = strstr(*at, mark);
    if (!found)
        return false;
    found += strlen(mark);
    size_t length = strcspn(found, "\n");
    *at = found + length;
    length = length < 511 ? length : 511;
    memcpy(line, found, length);
    line[length] = 0;
    return true;
}

/* One value of the list, as the bits of `type`; false at its end. */
static inline bool ptx_case_value(uint64_t *bits, char **at, const char *type)
{
    char *start = *at;
    while (isspace((unsigned char)*start))
        start++;
    *bits = 0;
    if (*type == 'f' && strncmp(start, "0x", 2)) {
        double value = strtod(start, at);
        float single = (float)value;
        if (!strcmp(type, "f64"))
            memcpy(bits, &value, sizeof value);
        else
            memcpy(bits, &single, sizeof single);
    } else {
        *bits = *start == '-' ? (uint64_t)strtoll(start, at, 0) : strtoull(start, at, 0);
    }
    return *at != start;
}

/* Holds the output to " u32[3] = 5 7 0xffffffff". */
static inline bool ptx_case_check(const char *name, const char *line, const unsigned char *out)
{
    char type[8], values[512];
    unsigned index, n = 0;
    int used = 0;
    if (sscanf(line, " %3[a-z0-9][%u] =%n", type, &index, &used) != 2 || !used) {
        fprintf(stderr, "%s: cannot read the line:%s\n", name, line);
        return false;
    }
    unsigned bytes = strstr(type, "64") ? 8 : 4;
    snprintf(values, sizeof values, "%s", line + used);
    char *at = values;
    for (uint64_t wanted; ptx_case_value(&wanted, &at, type); index++, n++) {
        uint64_t got = 0;
        if ((index + 1) * bytes > PTX_CASE_OUT_BYTES)
            return false;
        memcpy(&got, out + index * bytes, bytes);
        if (bytes == 4)
            wanted = (uint32_t)wanted;
        if (got != wanted) {
            fprintf(stderr, "%s: %s[%u] is 0x%llx, not 0x%llx\n", name, type, index,
                    (unsigned long long)got, (unsigned long long)wanted);
            return false;
        }
    }
    return n > 0;
}

#endif
