/* Disassembly: an array of instructions as nvdisasm writes them, brought into the common form,
 * judged, counted, compared with itself. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>

#include "inspect/lower.h"
#include "inspect/mix.h"
#include "inspect/verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *array = json_loadb((const char *)data, size, 0, NULL);
    const struct rung_sass_routine routine = {"$__internal_0_$__cuda_sm20_rem_u64", 64};
    const struct rung_sass_input input = {.name = "k",
                                          .array = array,
                                          .count = json_array_size(array),
                                          .routines = &routine,
                                          .n_routines = 1};
    struct rung_arena arena = {0};
    struct rung_code code;
    struct rung_modulo verdict;
    struct rung_mix mix;
    struct rung_mix_line *lines;
    size_t n_lines;
    if (rung_lower_sass(&code, &input, &arena) && rung_verdict_reach(&verdict, &code, &arena)) {
        rung_mix_count(&mix, &code);
        if (rung_mix_compare(&lines, &n_lines, &code, &code, &arena) && n_lines != 0)
            abort(); /* a kernel differs from itself */
    }
    rung_arena_release(&arena);
    json_decref(array);
    return 0;
}
