/* Lowering the PTX of an image, and having ptxas agree. */
#include "image/portable.h"

#include <stdlib.h>

#include "image/ptx_text.h"
#include "image/ptxas.h"

static const unsigned releases[] = {
#define PTX_RELEASE(version, driver, release) version,
#include "image/ptx_floor.def"
};

static bool assembles(const char *ptxas, const struct rung_image_facts *facts, const char *text,
                      size_t length)
{
    return rung_ptxas_check(ptxas, text, length, facts->target_word, NULL) == RUNG_OK;
}

static enum rung_status lower_to(struct rung_image *image, unsigned version, struct rung_error *err)
{
    char *text;
    size_t length;
    enum rung_status status =
        rung_ptx_with_version(&text, &length, image->ptx, image->ptx_length, version, err);
    if (status != RUNG_OK)
        return status;
    free(image->ptx);
    image->ptx = text;
    image->ptx_length = length;
    return RUNG_OK;
}

/* From the floor upwards to the first version that ptxas takes. */
static enum rung_status raise(struct rung_image *image, enum rung_proof *proof,
                              const struct rung_image_facts *facts, unsigned floor,
                              const char *ptxas, struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < sizeof releases / sizeof releases[0] && status == RUNG_OK; i++) {
        if (releases[i] <= floor || releases[i] > facts->ptx_version)
            continue;
        status = lower_to(image, releases[i], err);
        if (status == RUNG_OK && assembles(ptxas, facts, image->ptx, image->ptx_length)) {
            *proof = RUNG_PROOF_RAISED;
            return RUNG_OK;
        }
    }
    return status;
}

enum rung_status rung_image_make_portable(struct rung_image *image, enum rung_proof *proof,
                                          const char *ptxas, struct rung_error *err)
{
    struct rung_image_facts facts;
    *proof = RUNG_PROOF_NONE;
    enum rung_status status = rung_image_check(&facts, image->ptx, image->ptx_length, err);
    if (status != RUNG_OK)
        return status;
    free(image->cubin);
    image->cubin = NULL;
    image->cubin_length = 0;
    image->cubin_target = 0;
    unsigned floor = rung_ptx_floor(image->ptx, image->ptx_length);
    if (floor == 0)
        return RUNG_OK; /* a target that the table does not know keeps its version */
    bool judged = ptxas && assembles(ptxas, &facts, image->ptx, image->ptx_length);
    status = lower_to(image, floor, err);
    if (status != RUNG_OK || !judged)
        return status;
    if (!assembles(ptxas, &facts, image->ptx, image->ptx_length))
        return raise(image, proof, &facts, floor, ptxas, err);
    *proof = RUNG_PROOF_PTXAS;
    return RUNG_OK;
}
