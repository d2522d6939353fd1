/* Owns the buffers: their size against what is free, their guards, their poison. */
#include "bench/workspace.h"

#include <string.h>

#define POISON 0xff

#define PLACE_ALIGNMENT 256 /* as good as an allocation of its own */

static uint64_t buffer_bytes(uint64_t bytes, uint64_t guard)
{
    bytes += 2 * guard;
    return bytes ? bytes : 1; /* of n = 0 without guards: the API has no empty allocation */
}

static uint64_t place_bytes(const struct rung_workspace_spec *spec)
{
    uint64_t bytes = spec->n * rung_type_size(spec->type);
    return (bytes + PLACE_ALIGNMENT - 1) / PLACE_ALIGNMENT * PLACE_ALIGNMENT;
}

/* The last place ends with its last element, so that the guard stands right behind it. */
static uint64_t input_bytes(const struct rung_workspace_spec *spec)
{
    uint64_t more = spec->places > 1 ? spec->places - 1 : 0;
    return more * place_bytes(spec) + spec->n * rung_type_size(spec->type);
}

static uint64_t room_bytes(const struct rung_workspace_spec *spec)
{
    return spec->room * rung_type_size(spec->type);
}

static uint64_t guard_of(const struct rung_workspace_spec *spec)
{
    return spec->without_guards ? 0 : RUNG_GUARD_BYTES;
}

uint64_t rung_workspace_bytes(const struct rung_workspace_spec *spec)
{
    uint64_t guard = guard_of(spec);
    uint64_t inputs = spec->op == RUNG_OP_DOT ? 2 : 1;
    return inputs * buffer_bytes(input_bytes(spec), guard) +
           2 * buffer_bytes(room_bytes(spec), guard);
}

enum rung_status rung_workspace_fits(const struct rung_device *device,
                                     const struct rung_workspace_spec *spec, struct rung_error *err)
{
    size_t available = 0, total = 0;
    enum rung_status status = RUNG_OK;
    RUNG_CU(&device->driver, done, cuMemGetInfo, &available, &total);
    uint64_t needed = rung_workspace_bytes(spec);
    if (needed > available)
        status = rung_fail(err, RUNG_USAGE,
                           "n = %llu does not fit the device's memory: %.1f MiB are needed, "
                           "%.1f MiB of %.1f MiB are free",
                           (unsigned long long)spec->n, (double)needed / 1048576,
                           (double)available / 1048576, (double)total / 1048576);
done:
    return status;
}

/* The whole allocation is poison first: then the guards stand, and so does what a short copy
 * leaves out. */
static enum rung_status buffer_open(struct rung_buffer *out, const struct rung_device *device,
                                    uint64_t bytes, const struct rung_workspace_spec *spec,
                                    struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    uint64_t guard = guard_of(spec);
    uint64_t all = buffer_bytes(bytes, guard);
    RUNG_CU(&device->driver, done, cuMemAlloc, &out->base, all);
    out->data = out->base + guard;
    out->bytes = bytes;
    out->guard = guard;
    RUNG_CU(&device->driver, done, cuMemsetD8, out->base, POISON, all);
done:
    return status;
}

static void buffer_release(struct rung_buffer *buffer, const struct rung_device *device)
{
    if (buffer->base)
        device->driver.cuMemFree(buffer->base);
    *buffer = (struct rung_buffer){0};
}

enum rung_status rung_workspace_open(struct rung_workspace *out, const struct rung_device *device,
                                     const struct rung_workspace_spec *spec, struct rung_error *err)
{
    struct rung_workspace ws = {.device = device,
                                .op = spec->op,
                                .type = spec->type,
                                .n = spec->n,
                                .room = spec->room,
                                .places = spec->places ? spec->places : 1,
                                .place_bytes = place_bytes(spec)};
    *out = (struct rung_workspace){0};
    enum rung_status status = rung_workspace_fits(device, spec, err);
    if (status == RUNG_OK)
        status = buffer_open(&ws.a, device, input_bytes(spec), spec, err);
    if (status == RUNG_OK && spec->op == RUNG_OP_DOT)
        status = buffer_open(&ws.b, device, input_bytes(spec), spec, err);
    for (int i = 0; status == RUNG_OK && i < 2; i++)
        status = buffer_open(&ws.partials[i], device, room_bytes(spec), spec, err);
    if (status == RUNG_OK)
        *out = ws;
    else
        rung_workspace_release(&ws);
    return status;
}

void rung_workspace_release(struct rung_workspace *workspace)
{
    if (!workspace->device)
        return;
    buffer_release(&workspace->partials[1], workspace->device);
    buffer_release(&workspace->partials[0], workspace->device);
    buffer_release(&workspace->b, workspace->device);
    buffer_release(&workspace->a, workspace->device);
    *workspace = (struct rung_workspace){0};
}

struct rung_workspace rung_workspace_view(const struct rung_workspace *workspace, uint64_t place)
{
    struct rung_workspace view = *workspace;
    view.a.data += place * workspace->place_bytes;
    view.b.data += place * workspace->place_bytes;
    return view;
}

static enum rung_status replicate(const struct rung_workspace *workspace,
                                  const struct rung_buffer *buffer, struct rung_error *err)
{
    const uint64_t bytes = workspace->n * rung_type_size(workspace->type);
    enum rung_status status = RUNG_OK;
    for (uint64_t place = 1; buffer->base && bytes && place < workspace->places; place++)
        RUNG_CU(&workspace->device->driver, done, cuMemcpyDtoD,
                buffer->data + place * workspace->place_bytes, buffer->data, bytes);
done:
    return status;
}

enum rung_status rung_workspace_replicate(const struct rung_workspace *workspace,
                                          struct rung_error *err)
{
    enum rung_status status = replicate(workspace, &workspace->a, err);
    return status == RUNG_OK ? replicate(workspace, &workspace->b, err) : status;
}

enum rung_status rung_workspace_poison(const struct rung_workspace *workspace,
                                       struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    for (int i = 0; i < 2; i++)
        RUNG_CU(&workspace->device->driver, done, cuMemsetD8, workspace->partials[i].data, POISON,
                workspace->partials[i].bytes);
done:
    return status;
}

static enum rung_status check_guard(const struct rung_workspace *workspace, CUdeviceptr at,
                                    const char *name, const char *side, struct rung_error *err)
{
    unsigned char bytes[RUNG_GUARD_BYTES] = {0};
    enum rung_status status = RUNG_OK;
    RUNG_CU(&workspace->device->driver, done, cuMemcpyDtoH, bytes, at, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        if (bytes[i] != POISON)
            return rung_fail(err, RUNG_WRONG,
                             "wrote outside its memory: byte %zu of the guard %s the %s is 0x%02x",
                             i, side, name, bytes[i]);
done:
    return status;
}

enum rung_status rung_workspace_check_guards(const struct rung_workspace *workspace,
                                             struct rung_error *err)
{
    const struct {
        const struct rung_buffer *buffer;
        const char *name;
    } all[] = {
        {&workspace->a,           "input"                      },
        {&workspace->b,           "second input"               },
        {&workspace->partials[0], "partial sums of odd passes" },
        {&workspace->partials[1], "partial sums of even passes"},
    };
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < sizeof all / sizeof *all; i++) {
        const struct rung_buffer *buffer = all[i].buffer;
        if (!buffer->base || !buffer->guard)
            continue;
        status = check_guard(workspace, buffer->base, all[i].name, "before", err);
        if (status == RUNG_OK)
            status =
                check_guard(workspace, buffer->data + buffer->bytes, all[i].name, "behind", err);
    }
    return status;
}
