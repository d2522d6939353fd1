/* Runs a fuzz target over files and folders of files, each also cut short at a few places: what a
 * build without libFuzzer can check of it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CUTS 8

static void run_copy(const char *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1); /* of its own, so that a sanitizer sees an overrun */
    if (!copy)
        return;
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

/* How many inputs were run: none for what cannot be read. */
static size_t run_file(const char *path)
{
    struct rung_error err = {0};
    char *data;
    size_t size;
    if (rung_file_read(&data, &size, path, &err) != RUNG_OK)
        return 0;
    run_copy(data, size);
    for (size_t cut = 1; cut < CUTS; cut++)
        run_copy(data, size * cut / CUTS);
    free(data);
    return CUTS;
}

static size_t run_path(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder)
        return run_file(path);
    size_t n = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char *inner = entry->d_name[0] == '.' ? NULL : rung_path_join(path, entry->d_name);
        n += inner ? run_file(inner) : 0;
        free(inner);
    }
    closedir(folder);
    return n;
}

int main(int argc, char **argv)
{
    size_t n = 0;
    for (int i = 1; i < argc; i++)
        n += run_path(argv[i]);
    printf("%zu inputs\n", n);
    return n > 0 ? 0 : 1;
}
