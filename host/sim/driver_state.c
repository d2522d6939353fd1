/* The simulator's process state: its lock, the handle table, and each thread's stack of contexts.
 */
#include "sim/driver_state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct rung_sim_process rung_sim_process;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void rung_sim_lock(void)
{
    pthread_mutex_lock(&lock);
}

void rung_sim_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* --- handles --------------------------------------------------------------------------------
 * A handle is base + kind, generation and index of its slot, where `base` lies above every address
 * of a user program. A slot that is used again has another generation. */
#define HANDLE_BASE UINT64_C(0x0500000000000000)
#define HANDLE_KIND_SHIFT 52
#define HANDLE_GENERATION_SHIFT 24
#define HANDLE_INDEX_MASK UINT64_C(0xfffff0) /* multiples of 16, as pointers would be */
#define SLOTS_MAX (HANDLE_INDEX_MASK / 16 + 1)

struct slot {
    struct rung_sim_object *object; /* NULL: free */
    uint32_t generation;
    uint32_t next_free; /* of a free slot: index + 1, 0 at the end */
};

static struct {
    struct slot *slots;
    size_t n_slots, room;
    uint32_t first_free; /* index + 1 */
    uint64_t live[RUNG_SIM_HANDLE_KINDS];
} table;

static bool take_slot(size_t *index)
{
    if (table.first_free) {
        *index = table.first_free - 1;
        table.first_free = table.slots[*index].next_free;
        return true;
    }
    if (table.n_slots == SLOTS_MAX)
        return false;
    if (table.n_slots == table.room) {
        size_t room = table.room ? table.room * 2 : 64;
        struct slot *slots = realloc(table.slots, room * sizeof *slots);
        if (!slots)
            return false;
        table.slots = slots;
        table.room = room;
    }
    *index = table.n_slots++;
    table.slots[*index] = (struct slot){0};
    return true;
}

bool rung_sim_object_add(struct rung_sim_object *object, enum rung_sim_handle_kind kind,
                         struct rung_sim_context *owner)
{
    size_t index;
    if (!take_slot(&index))
        return false;
    uint64_t value = HANDLE_BASE + ((uint64_t)kind << HANDLE_KIND_SHIFT) +
                     ((uint64_t)table.slots[index].generation << HANDLE_GENERATION_SHIFT) +
                     index * 16;
    *object = (struct rung_sim_object){kind, owner, (void *)(uintptr_t)value};
    table.slots[index].object = object;
    table.live[kind]++;
    return true;
}

static struct slot *slot_of(const void *handle)
{
    size_t index = ((uintptr_t)handle & HANDLE_INDEX_MASK) / 16;
    if (index >= table.n_slots || !table.slots[index].object ||
        table.slots[index].object->handle != handle)
        return NULL;
    return &table.slots[index];
}

void *rung_sim_object_of(enum rung_sim_handle_kind kind, const void *handle)
{
    const struct slot *slot = slot_of(handle);
    return slot && slot->object->kind == kind ? slot->object : NULL;
}

void rung_sim_object_remove(struct rung_sim_object *object)
{
    struct slot *slot = slot_of(object->handle);
    if (!slot)
        return;
    table.live[object->kind]--;
    slot->object = NULL;
    slot->generation = (slot->generation + 1) & 0xfffffff;
    slot->next_free = table.first_free;
    table.first_free = (uint32_t)(slot - table.slots) + 1;
}

void *rung_sim_object_next(const struct rung_sim_context *owner, size_t *cursor)
{
    while (*cursor < table.n_slots) {
        struct rung_sim_object *object = table.slots[(*cursor)++].object;
        if (object && object->owner == owner)
            return object;
    }
    return NULL;
}

uint64_t rung_sim_objects_live(enum rung_sim_handle_kind kind)
{
    return table.live[kind];
}

void rung_sim_objects_forget(void)
{
    free(table.slots);
    memset(&table, 0, sizeof table);
}

/* --- contexts of a thread -------------------------------------------------------------------
 * Kept by handle: a context that another thread destroyed is then simply no longer there. */
#define STACK_MAX 64

static _Thread_local struct {
    void *handles[STACK_MAX];
    unsigned depth;
} stack;

struct rung_sim_context *rung_sim_context_current(void)
{
    return stack.depth ? rung_sim_object_of(RUNG_SIM_HANDLE_CONTEXT, stack.handles[stack.depth - 1])
                       : NULL;
}

bool rung_sim_context_push(struct rung_sim_context *context)
{
    if (stack.depth == STACK_MAX)
        return false;
    stack.handles[stack.depth++] = context ? context->object.handle : NULL;
    return true;
}

struct rung_sim_context *rung_sim_context_pop(void)
{
    struct rung_sim_context *top = rung_sim_context_current();
    if (stack.depth)
        stack.depth--;
    return top;
}

void rung_sim_context_set(struct rung_sim_context *context)
{
    if (stack.depth)
        stack.depth--;
    if (context)
        rung_sim_context_push(context);
}

/* --- calls ---------------------------------------------------------------------------------- */
CUresult rung_sim_enter_driver(void)
{
    rung_sim_lock();
    return rung_sim_process.initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult rung_sim_enter_release(struct rung_sim_context **context)
{
    CUresult code = rung_sim_enter_driver();
    *context = NULL;
    if (code != CUDA_SUCCESS)
        return code;
    *context = rung_sim_context_current();
    return *context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult rung_sim_enter(struct rung_sim_context **context)
{
    CUresult code = rung_sim_enter_release(context);
    return code == CUDA_SUCCESS ? (*context)->dead : code;
}

CUresult rung_sim_leave(CUresult code)
{
    rung_sim_unlock();
    return code;
}
