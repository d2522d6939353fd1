/* The journal of a sweep: JSON Lines, only ever appended to. One line is written by one call and
 * flushed to the disk at least once a second and at the end, so that a kill loses nothing that was
 * finished and a power cut at most the last second.
 *
 *   {"record": "run", "schema": "rung-journal/1", "argv": [...], "seed": ..., "environment": {...}}
 *   {"record": "row", "id": "v1-b256-const", ... the fields of a row ...}
 *   {"record": "end", "status": "ok" | "incomplete" | "interrupted", ...}
 *
 * A file may hold several runs, one after the other; a run without an end was killed. Readers pass
 * over records of other kinds. */
#ifndef RUNG_SWEEP_JOURNAL_H
#define RUNG_SWEEP_JOURNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <time.h>

#include "sweep/results.h"

#define RUNG_JOURNAL_SCHEMA "rung-journal/1"

struct rung_journal {
    int fd; /* -1 when closed; zeroed is closed too while `path` is NULL */
    char *path;
    bool torn; /* the last byte is not the end of a line */
    struct timespec synced;
};

/* Opens or creates the file, takes its lock and reads what is there into `found`, which the caller
 * releases. The lock is a record lock of this process: a child does not inherit it. RUNG_USAGE when
 * another process holds it (the text has its id) or when the file is no journal; RUNG_IO when it
 * cannot be written. */
enum rung_status rung_journal_open(struct rung_journal *out, struct rung_results *found,
                                   const char *path, struct rung_error *err);

/* Appends one record; takes it over. */
enum rung_status rung_journal_append(struct rung_journal *journal, json_t *record,
                                     struct rung_error *err);

/* The row as a record of a journal. */
enum rung_status rung_journal_append_row(struct rung_journal *journal, const struct rung_row *row,
                                         struct rung_error *err);

/* Flushes to the disk and closes. */
enum rung_status rung_journal_close(struct rung_journal *journal, struct rung_error *err);

#endif
