/* Which of the images that a build of librung carries fits a card. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sum/images.h"

static const unsigned char code[4];

static void the_newest_that_runs(void **state)
{
    (void)state;
    static const struct rung_sum_image images[] = {
        {RUNG_SUM_F32, 80, code    },
        {RUNG_SUM_F32, 86, code + 1},
        {RUNG_SUM_F32, 90, code + 2},
        {RUNG_SUM_F64, 89, code + 3},
    };
    static const struct {
        enum rung_sum_element element;
        unsigned cc;
        const unsigned char *cubin;
    } rows[] = {
        {RUNG_SUM_F32, 80,  code    },
        {RUNG_SUM_F32, 86,  code + 1},
        {RUNG_SUM_F32, 89,  code + 1}, /* a later minor of the same major */
        {RUNG_SUM_F32, 90,  code + 2},
        {RUNG_SUM_F32, 100, NULL    }, /* another major: PTX */
        {RUNG_SUM_F32, 75,  NULL    },
        {RUNG_SUM_F64, 86,  NULL    }, /* an earlier minor */
        {RUNG_SUM_I32, 90,  NULL    },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_ptr_equal(rung_sum_cubin(images, 4, rows[i].element, rows[i].cc), rows[i].cubin);
    assert_null(rung_sum_cubin(images, 0, RUNG_SUM_F32, 90));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_that_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
