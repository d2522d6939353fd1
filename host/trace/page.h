/* The files of page/, embedded at build time. */
#ifndef RUNG_TRACE_PAGE_H
#define RUNG_TRACE_PAGE_H

extern const char rung_trace_page_html[], rung_trace_page_css[], rung_trace_model_js[],
    rung_trace_grid_js[], rung_trace_picture_js[], rung_trace_page_js[];

#endif
