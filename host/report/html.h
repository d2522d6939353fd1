/* Pieces of HTML. */
#ifndef RUNG_REPORT_HTML_H
#define RUNG_REPORT_HTML_H

#include <jansson.h>

#include "base/text.h"

/* Printf, then escaped. */
void rung_html_format(struct rung_text *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The members of an object as rows of a table of two columns, nested ones indented by their path.
 */
void rung_html_json_rows(struct rung_text *out, const char *prefix, const json_t *object);

/* Everything before the body's content: style included. */
void rung_html_begin(struct rung_text *out, const char *title);
void rung_html_end(struct rung_text *out);

#endif
