/* Cubins: their ELF read, kernels and routines listed. The machine code itself goes to nvdisasm,
 * whose output fuzz_sass.c stands for. */
#include <stdint.h>

#include "inspect/inspect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rung_inspection inspection;
    const struct rung_inspect_input input = {.cubin = data, .cubin_length = size};
    rung_inspect(&inspection, &input, 1, NULL, "none");
    rung_inspection_release(&inspection);
    return 0;
}
