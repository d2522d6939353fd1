/* What a kernel writes down on a card is what the simulator sees of the same block: whole traces,
 * of every version at every block size, of every form and type. Skipped (77) on a machine without a
 * card or without NVRTC. */
#include "support/trace_pair.h"

#define SKIPPED 77

int main(void)
{
    struct trace_pair pair;
    struct rung_error err = {0};
    if (trace_pair_open(&pair, "cuda", &err) != RUNG_OK || !pair.images.nvrtc) {
        printf("skipped: %s\n", err.text[0] ? err.text : pair.images.nvrtc_why);
        trace_pair_close(&pair);
        return SKIPPED;
    }
    trace_pair_every_version_and_block(&pair);
    for (size_t i = 0; i < pair.ladder.n_versions; i++)
        trace_pair_forms(&pair, pair.ladder.versions[i]);
    trace_pair_uneven_sweeps(&pair);
    printf("%s: %u traces, %u differ\n", pair.traced.name, pair.compared, pair.differ);
    trace_pair_close(&pair);
    return pair.differ > 0;
}
