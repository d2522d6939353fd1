/* Statements about the ladder, each decided by an experiment. Deciding is pure: it looks at rows,
 * at verdicts on compiled code and at what became of a negative control, all gathered before. What
 * the evidence does not reach is "cannot tell", with the reason. */
#ifndef RUNG_REPORT_CLAIMS_H
#define RUNG_REPORT_CLAIMS_H

#include "sweep/results.h"

enum rung_claim_number {
#define CLAIM(name, statement, source, command) RUNG_CLAIM_##name,
#include "report/claims.def"
#undef CLAIM
    RUNG_CLAIMS
};

enum rung_answer { RUNG_CONFIRMED, RUNG_REFUTED, RUNG_CANNOT_TELL };
const char *rung_answer_word(enum rung_answer answer); /* "confirmed", "refuted", "cannot tell" */

#define RUNG_CLAIM_TARGETS 4

/* What the compiler made of version 1's modulo, for one target: the words of rung_inspect_image,
 * "" where it could not be had. */
struct rung_claim_code {
    unsigned target;
    char runtime[56], constant[56], rolled[56];
};

/* The control whose last warp has no barriers. */
struct rung_claim_control {
    bool tried;
    bool wrong_sum; /* some sum was wrong */
    bool caught;    /* some check told: a race, a wrong sum, ... */
    char what[512]; /* what told, or why it was not tried */
};

struct rung_claim_evidence {
    const struct rung_result *rows;
    size_t n_rows;
    struct rung_claim_code code[RUNG_CLAIM_TARGETS];
    size_t n_code;
    struct rung_claim_control on_simulator, on_card;
    const char *no_times; /* why rows have no times, for the reader */
};

struct rung_claim {
    const char *name, *statement, *source, *command;
    enum rung_answer answer;
    char figures[640]; /* what was found, in words with numbers */
};

/* Fills all claims in the order of the table. RUNG_MEMORY only. */
enum rung_status rung_claims_decide(struct rung_claim claims[RUNG_CLAIMS],
                                    const struct rung_claim_evidence *evidence,
                                    struct rung_error *err);

#endif
