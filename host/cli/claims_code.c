/* Owns the verdicts that claims about the compiler rest on. */
#include "cli/claims_code.h"

#include <string.h>

#include "inspect/inspect.h"

#define FORMS 3

static void read_target(struct rung_claim_code *out, const struct rung_image_source *from)
{
    const struct rung_config configs[FORMS] = {
        {.version = 1, .block = 256, .bound = RUNG_BOUND_RUNTIME, .unroll = RUNG_UNROLL_NONE},
        {.version = 1, .block = 256, .bound = RUNG_BOUND_CONST,   .unroll = RUNG_UNROLL_FULL},
        {.version = 1, .block = 256, .bound = RUNG_BOUND_CONST,   .unroll = RUNG_UNROLL_NONE},
    };
    char *words[FORMS] = {out->runtime, out->constant, out->rolled};
    struct rung_image images[FORMS] = {0};
    enum rung_status statuses[FORMS];
    struct rung_error errors[FORMS] = {0};
    (void)rung_images_get(images, statuses, errors, from, configs, FORMS, out->target);
    for (size_t i = 0; i < FORMS; i++) {
        char word[RUNG_INSPECT_WORD] = "";
        const struct rung_inspect_input input = {.ptx = images[i].ptx,
                                                 .ptx_length = images[i].ptx_length};
        /* An image for an older target would answer another question. */
        if (statuses[i] == RUNG_OK && images[i].ptx && images[i].ptx_target == out->target)
            rung_inspect_image(word, &input, NULL, NULL);
        memcpy(words[i], word, sizeof word);
        rung_image_release(&images[i]);
    }
}

void rung_claims_read_code(struct rung_claim_code *out, const unsigned *targets, size_t n_targets,
                           const struct rung_image_source *from)
{
    struct rung_image_source source = *from;
    source.ptx_only = true; /* the PTX says it; a cubin would take longer */
    for (size_t i = 0; i < n_targets; i++) {
        out[i] = (struct rung_claim_code){.target = targets[i]};
        read_target(&out[i], &source);
    }
}
