/* librung on a card: every regime, type, operation and alignment against sums worked out on the
 * host, exact; the same bits a hundred times; two handles on two streams at once. Skipped (77) on a
 * machine without a card. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/device.h"
#include "sum/open.h"

#define SKIPPED 77
#define LARGEST (1u << 26)
#define LEAD 4           /* the most elements that an array's start is off by */
#define EXACT (1u << 24) /* a sum of so many squares is exact in f32 */
#define STREAMS 2

struct test {
    struct rung_device device;
    CUdeviceptr x, y;
    int *values; /* of x and y, the same: small whole numbers */
    unsigned checked, wrong;
};

static const size_t bytes_of[] = {[RUNG_SUM_F32] = 4, [RUNG_SUM_F64] = 8, [RUNG_SUM_I32] = 4};

static bool upload(struct test *test, enum rung_sum_element element)
{
    size_t n = LARGEST + LEAD;
    void *host = malloc(n * bytes_of[element]);
    if (!host)
        return false;
    for (size_t i = 0; i < n; i++)
        if (element == RUNG_SUM_F32)
            ((float *)host)[i] = (float)test->values[i];
        else if (element == RUNG_SUM_F64)
            ((double *)host)[i] = test->values[i];
        else
            ((int *)host)[i] = test->values[i];
    bool good = !test->device.driver.cuMemcpyHtoD(test->x, host, n * bytes_of[element]) &&
                !test->device.driver.cuMemcpyHtoD(test->y, host, n * bytes_of[element]);
    free(host);
    return good;
}

static double value_of(const void *at, enum rung_sum_element element)
{
    float f32;
    double f64;
    int i32;
    memcpy(&f32, at, sizeof f32);
    memcpy(&f64, at, sizeof f64);
    memcpy(&i32, at, sizeof i32);
    return element == RUNG_SUM_F32 ? (double)f32 : element == RUNG_SUM_F64 ? f64 : (double)i32;
}

static void check(struct test *test, struct rung_sum *sum, enum rung_sum_element element,
                  uint64_t n, const size_t offsets[2], bool dot)
{
    double found = 0;
    long long wanted = 0;
    const char *x = (const char *)test->x + offsets[0] * bytes_of[element];
    const char *y = (const char *)test->y + offsets[1] * bytes_of[element];
    for (uint64_t i = 0; i < n; i++)
        wanted +=
            (long long)test->values[offsets[0] + i] * (dot ? test->values[offsets[1] + i] : 1);
    enum rung_sum_code code =
        dot ? rung_sum_dot_value(sum, &found, x, y, n) : rung_sum_value(sum, &found, x, n);
    test->checked++;
    if (code == RUNG_SUM_OK && value_of(&found, element) == (double)wanted)
        return;
    test->wrong++;
    fprintf(stderr, "element %d, %s of %llu at %zu, %zu: %.17g instead of %lld %s\n", (int)element,
            dot ? "dot" : "sum", (unsigned long long)n, offsets[0], offsets[1],
            value_of(&found, element), wanted, rung_sum_message(sum));
}

static bool check_element(struct test *test, enum rung_sum_element element)
{
    static const uint64_t sizes[] = {8190,    8192,    8200,     65536,    135167,   135170,
                                     270336,  270340,  540672,   1081344,  1081350,  2162688,
                                     2162692, 6881280, 13762561, 13762560, 16776605, LARGEST};
    struct rung_sum *sum;
    if (!upload(test, element))
        return false;
    if (rung_sum_open(&sum, element, test->device.stream)) {
        fprintf(stderr, "%s\n", rung_sum_message(sum));
        return false;
    }
    for (size_t a = 0; a < LEAD; a++) {
        const size_t together[] = {a, a}, apart[] = {a, (a + 1) % LEAD};
        for (uint64_t n = 0; n < 700; n++)
            check(test, sum, element, n, together, false);
        for (uint64_t n = 0; n < 700; n += 3) {
            check(test, sum, element, n, together, true);
            check(test, sum, element, n, apart, true);
        }
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int k = 0; k < (sizes[i] < EXACT ? 3 : 1); k++)
                check(test, sum, element, sizes[i], k == 2 ? apart : together, k > 0);
    }
    rung_sum_close(sum);
    return true;
}

/* The bits of one call, again and again, and with another handle at work on another stream. */
static bool check_bits(struct test *test)
{
    static const uint64_t sizes[] = {5000, 100003, 1000003, 3000001, 10000019, 16776605};
    struct rung_sum *sums[STREAMS] = {0};
    CUstream streams[STREAMS] = {0};
    const struct rung_driver *d = &test->device.driver;
    float *host = malloc(LARGEST * sizeof *host);
    bool good = host != NULL;
    for (size_t i = 0; good && i < LARGEST; i++)
        host[i] = (float)(i * 2654435761u % 1000003) * 1e-3f;
    good = good && !d->cuMemcpyHtoD(test->x, host, LARGEST * sizeof *host);
    for (int k = 0; k < STREAMS && good; k++)
        good = !d->cuStreamCreate(&streams[k], CU_STREAM_NON_BLOCKING) &&
               !rung_sum_open(&sums[k], RUNG_SUM_F32, streams[k]);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && good; i++) {
        float first = 0, again = 0;
        good = !rung_sum_value(sums[0], &first, (const void *)test->x, sizes[i]);
        for (int turn = 0; turn < 100 && good; turn++) {
            for (int k = 0; k < 4; k++)
                good = good &&
                       !rung_sum_enqueue(sums[1], (void *)test->y, (const void *)test->x, sizes[i]);
            good = good && !rung_sum_value(sums[0], &again, (const void *)test->x, sizes[i]);
            test->checked++;
            test->wrong += memcmp(&first, &again, sizeof first) != 0;
        }
        good = good && !d->cuStreamSynchronize(streams[1]) &&
               !d->cuMemcpyDtoH(&again, test->y, sizeof again);
        test->wrong += memcmp(&first, &again, sizeof first) != 0;
    }
    for (int k = 0; k < STREAMS; k++) {
        rung_sum_close(sums[k]);
        if (streams[k])
            d->cuStreamDestroy(streams[k]);
    }
    free(host);
    return good;
}

int main(void)
{
    struct test test = {0};
    struct rung_error err = {0};
    unsigned seed = 1;
    if (rung_device_open(&test.device, "cuda", NULL, NULL, &err) != RUNG_OK) {
        printf("skipped: %s\n", err.text);
        return SKIPPED;
    }
    const struct rung_driver *d = &test.device.driver;
    test.values = malloc((LARGEST + LEAD) * sizeof *test.values);
    bool good = test.values && !d->cuMemAlloc(&test.x, (LARGEST + LEAD) * 8) &&
                !d->cuMemAlloc(&test.y, (LARGEST + LEAD) * 8);
    for (size_t i = 0; good && i < LARGEST + LEAD; i++) {
        seed = seed * 1664525u + 1013904223u;
        test.values[i] = (int)((seed >> 8) % 3) - 1;
    }
    for (int element = RUNG_SUM_F32; element <= RUNG_SUM_I32 && good; element++)
        good = check_element(&test, (enum rung_sum_element)element);
    good = good && check_bits(&test);
    printf("%s: %u sums, %u wrong%s\n", test.device.name, test.checked, test.wrong,
           good ? "" : "; ended early");
    if (test.x)
        d->cuMemFree(test.x);
    if (test.y)
        d->cuMemFree(test.y);
    free(test.values);
    rung_device_close(&test.device);
    return !good || test.wrong;
}
