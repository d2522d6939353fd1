/* The words of states, timers and stopping rules, and the rules themselves. */
#include "bench/sampling.h"

#include <string.h>

#include "base/text.h"
#include "bench/stats.h"

#define WORD(name, word, help) word,

static const char *const state_words[] = {
#define AXIS_STATE WORD
#include "bench/sampling.def"
};
static const char *const timer_words[] = {
#define AXIS_TIMER WORD
#include "bench/sampling.def"
};
static const char *const stop_words[] = {
#define AXIS_STOP WORD
#include "bench/sampling.def"
};

const char *rung_state_word(enum rung_state value)
{
    return state_words[value];
}

const char *rung_timer_word(enum rung_timer value)
{
    return timer_words[value];
}

const char *rung_stop_word(enum rung_stop value)
{
    return stop_words[value];
}

static enum rung_status find(size_t *out, const char *const *words, size_t n, const char *axis,
                             const char *word, struct rung_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(words[i], word) == 0) {
            *out = i;
            return RUNG_OK;
        }
    }
    struct rung_text allowed = {0};
    for (size_t i = 0; i < n; i++)
        rung_text_format(&allowed, "%s%s", i ? ", " : "", words[i]);
    enum rung_status status =
        rung_fail(err, RUNG_USAGE, "%s '%s': one of %s", axis, word, rung_text_string(&allowed));
    rung_text_release(&allowed);
    return status;
}

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

enum rung_status rung_state_parse(enum rung_state *out, const char *word, struct rung_error *err)
{
    size_t index = 0;
    enum rung_status status = find(&index, state_words, COUNT_OF(state_words), "state", word, err);
    *out = (enum rung_state)index;
    return status;
}

enum rung_status rung_timer_parse(enum rung_timer *out, const char *word, struct rung_error *err)
{
    size_t index = 0;
    enum rung_status status = find(&index, timer_words, COUNT_OF(timer_words), "timer", word, err);
    *out = (enum rung_timer)index;
    return status;
}

enum rung_status rung_stop_parse(enum rung_stop *out, const char *word, struct rung_error *err)
{
    size_t index = 0;
    enum rung_status status = find(&index, stop_words, COUNT_OF(stop_words), "stop", word, err);
    *out = (enum rung_stop)index;
    return status;
}

struct rung_stop_rule rung_stop_rule_default(void)
{
    return (struct rung_stop_rule){.rule = RUNG_STOP_CI,
                                   .max_width = 0.01,
                                   .max_stdrel = 0.005,
                                   .count = 30,
                                   .min_samples = 200,
                                   .ample_ms = 1000,
                                   .max_samples = 10000,
                                   .timeout_s = 15};
}

static bool met(const struct rung_stop_rule *rule, const struct rung_summary *summary)
{
    const struct rung_interval *interval = &summary->median_interval;
    switch (rule->rule) {
    case RUNG_STOP_CI:
        return interval->coverage >= RUNG_CONFIDENCE &&
               (interval->high - interval->low) / 2 <= rule->max_width * summary->median;
    case RUNG_STOP_STDREL:
        return summary->n > 1 && summary->cv <= rule->max_stdrel;
    case RUNG_STOP_COUNT:
        return summary->n >= rule->count;
    }
    return false;
}

#define FEW 10

static bool ample(const struct rung_stop_rule *rule, const double *samples, size_t n)
{
    double total = 0;
    if (n >= rule->min_samples)
        return true;
    for (size_t i = 0; i < n; i++)
        total += samples[i];
    return n >= FEW && rule->ample_ms > 0 && total >= rule->ample_ms;
}

enum rung_status rung_stop_check(bool *enough, const char **reason,
                                 const struct rung_stop_rule *rule, const double *samples, size_t n,
                                 double elapsed_s, struct rung_error *err)
{
    struct rung_summary summary;
    enum rung_status status = rung_stats_summarise(&summary, samples, n, err);
    if (status != RUNG_OK)
        return status;
    *enough = true;
    bool fixed = rule->rule == RUNG_STOP_COUNT;
    if ((fixed || ample(rule, samples, n)) && met(rule, &summary))
        *reason = rung_stop_word(rule->rule);
    else if (n >= rule->max_samples && !fixed)
        *reason = "max";
    else if (elapsed_s >= rule->timeout_s)
        *reason = "timeout";
    else
        *enough = false;
    return RUNG_OK;
}

size_t rung_stop_next(const struct rung_stop_rule *rule, size_t n)
{
    size_t target = rule->rule == RUNG_STOP_COUNT ? rule->count : rule->max_samples;
    if (n >= target)
        return 1;
    size_t left = target - n;
    size_t step = 5 + n / 4;
    if (rule->rule != RUNG_STOP_COUNT && n < rule->min_samples && rule->min_samples - n < step)
        step = rule->min_samples - n;
    return step < left ? step : left;
}
