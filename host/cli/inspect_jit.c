/* What really runs: PTX through the driver's own compiler. */
#include <stdlib.h>

#include "bench/device.h"
#include "cli/inspect_rows.h"
#include "driver/link.h"

static void jit_row(struct rung_inspect_row *row, const struct rung_driver *driver)
{
    const struct rung_inspect_item *item = row->item;
    const char *ptx = item->kind == RUNG_INSPECT_PTX ? item->bytes : row->compiled.ptx;
    size_t length = item->kind == RUNG_INSPECT_PTX ? item->length : row->compiled.ptx_length;
    if (row->status != RUNG_OK || !ptx)
        return;
    unsigned char *cubin = NULL;
    size_t cubin_length = 0;
    row->status =
        rung_driver_link(&cubin, &cubin_length, driver, ptx, length, item->name, &row->err);
    if (row->status != RUNG_OK)
        return;
    free(row->compiled.cubin);
    row->compiled.cubin = cubin;
    row->compiled.cubin_length = cubin_length;
    row->from_driver = true;
}

enum rung_status rung_inspect_jit(struct rung_inspect_result *result,
                                  const struct rung_inspect_request *request,
                                  struct rung_error *err)
{
    struct rung_device device;
    const char *word = request->selection.device ? request->selection.device : "cuda";
    char why[512];
    enum rung_status status = rung_device_open(&device, word, request->selection.driver, why, err);
    if (status != RUNG_OK)
        return status;
    if (device.driver.kind != RUNG_DRIVER_CUDA)
        status = rung_fail(err, RUNG_UNABLE,
                           "what the driver makes of PTX needs a card and its driver; the "
                           "simulator executes the PTX itself");
    for (size_t i = 0; status == RUNG_OK && i < result->n_rows; i++)
        jit_row(&result->rows[i], &device.driver);
    rung_device_close(&device);
    return status;
}
