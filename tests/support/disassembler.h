/* nvdisasm for tests: where the program would find it, seen from a test's own folder below. */
#ifndef RUNG_TESTS_DISASSEMBLER_H
#define RUNG_TESTS_DISASSEMBLER_H

#include <stdbool.h>
#include <stdlib.h>

#include "base/file.h"
#include "inspect/disasm.h"

static inline bool find_disassembler(struct rung_disasm *out, struct rung_error *why)
{
    char *folder = rung_program_folder();
    char *beside = folder ? rung_path_join(folder, "../cuda/nvidia/cu13/bin/nvdisasm") : NULL;
    bool there = beside && rung_file_exists(beside) && !getenv("RUNG_NVDISASM");
    bool found = rung_disasm_find(out, there ? beside : NULL, why) == RUNG_OK;
    free(beside);
    free(folder);
    return found;
}

#endif
