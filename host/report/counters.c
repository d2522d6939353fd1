/* Reads counters out of rows. */
#include "report/counters.h"

#include <math.h>

static double field(const json_t *object, const char *name, double blocks)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) / blocks : NAN;
}

static struct rung_counted read_object(const char *source, const json_t *object, double blocks)
{
    return (struct rung_counted){
        .source = source,
        .body_runs = NAN,
        .serialised = NAN,
        .load_wavefronts = field(object, "shared_load_wavefronts", blocks),
        .store_wavefronts = field(object, "shared_store_wavefronts", blocks),
        .load_conflicts = field(object, "shared_load_conflicts", blocks),
        .store_conflicts = field(object, "shared_store_conflicts", blocks),
        .warp_instructions = field(object, "warp_instructions", blocks),
    };
}

size_t rung_counted_read(struct rung_counted out[RUNG_COUNTED_MAX], const struct rung_row *row)
{
    size_t n = 0;
    const json_t *simulated = json_object_get(row->extra, "counters");
    const json_t *hardware = json_object_get(row->extra, "hardware");
    double blocks = field(hardware, "blocks", 1);
    if (row->model.known)
        out[n++] = (struct rung_counted){"model",
                                         (double)row->model.body_runs,
                                         (double)row->model.serialised,
                                         NAN,
                                         NAN,
                                         NAN,
                                         NAN,
                                         NAN};
    if (json_is_object(simulated)) { /* of one full block already */
        out[n] = read_object("simulator", simulated, 1);
        if (row->executed.known) {
            out[n].body_runs = (double)row->executed.body_runs;
            out[n].serialised = (double)row->executed.serialised;
        }
        n++;
    }
    if (blocks > 0) /* false for NAN */
        out[n++] = read_object("silicon", hardware, blocks);
    return n;
}

const char *rung_counted_unavailable(const struct rung_row *row)
{
    return json_string_value(
        json_object_get(json_object_get(row->extra, "hardware"), "unavailable"));
}
