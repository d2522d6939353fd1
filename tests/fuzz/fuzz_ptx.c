/* PTX text: parsed, brought into the common form, judged, counted. */
#include <stdint.h>

#include "inspect/inspect.h"
#include "inspect/mix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rung_inspection inspection;
    const struct rung_inspect_input input = {.ptx = (const char *)data, .ptx_length = size};
    rung_inspect(&inspection, &input, 1, NULL, NULL);
    for (size_t k = 0; k < inspection.n_kernels; k++) {
        struct rung_mix mix;
        rung_mix_count(&mix, &inspection.kernels[k].ptx.code);
    }
    rung_inspection_release(&inspection);
    return 0;
}
