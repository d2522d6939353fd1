/* Escaping, and the style of the page. */
#define _GNU_SOURCE
#include "report/html.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void rung_html_format(struct rung_text *out, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0) {
        out->failed = true;
        return;
    }
    rung_text_append_xml(out, text);
    free(text);
}

static void json_row(struct rung_text *out, const char *name, const json_t *value)
{
    char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    rung_text_append(out, "<tr><th scope=row>");
    rung_text_append_xml(out, name);
    rung_text_append(out, "</th><td>");
    rung_text_append_xml(out, json_is_string(value) ? json_string_value(value) : text ? text : "");
    rung_text_append(out, "</td></tr>\n");
    free(text);
}

void rung_html_json_rows(struct rung_text *out, const char *prefix, const json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        char name[160];
        snprintf(name, sizeof name, "%s%s%s", prefix, prefix[0] ? " " : "", key);
        if (json_is_object(value) && json_object_size(value))
            rung_html_json_rows(out, name, value);
        else if (!json_is_null(value))
            json_row(out, name, value);
    }
}

static const char style[] =
    ":root{color-scheme:light dark;--paper:#fcfcfb;--ink:#1d2125;--soft:#5c666f;--grid:#dfe3e6;"
    "--card:#ffffff;--s1:#1f6fb4;--s2:#c4501a;--s3:#2b8a4b;--s4:#8a3fa6;--s5:#b08900;--s6:#0f8b8d;"
    "--s7:#b3315f;--s8:#6b6b6b}\n"
    "@media (prefers-color-scheme:dark){:root{--paper:#14171a;--ink:#e6e9ec;--soft:#9aa5af;"
    "--grid:#343b42;--card:#1c2024;--s1:#6db3f2;--s2:#f2935c;--s3:#6fce8f;--s4:#cf93ea;"
    "--s5:#e5c455;--s6:#5fd0d2;--s7:#f284a8;--s8:#b5b5b5}}\n"
    "*{box-sizing:border-box}body{margin:0 "
    "auto;padding:1rem;max-width:80rem;background:var(--paper);"
    "color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:break-word}\n"
    "h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0}h2{font-size:1.25rem;margin:2.2rem 0 .5rem;"
    "border-bottom:1px solid var(--grid)}h3{font-size:1.05rem;margin:1.5rem 0 .4rem}\n"
    "p,li{max-width:46rem}.soft{color:var(--soft)}code{font-size:.92em;overflow-wrap:anywhere}\n"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));gap:.8rem;"
    "padding:0;list-style:none}.cards li{background:var(--card);border:1px solid var(--grid);"
    "border-radius:.5rem;padding:.7rem .9rem}.cards b{display:block;font-size:1.25rem;"
    "overflow-wrap:anywhere}\n"
    ".plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(21rem,100%),1fr));"
    "gap:1rem}figure{margin:0;background:var(--card);border:1px solid var(--grid);"
    "border-radius:.5rem;padding:.5rem}figure svg{width:100%;height:auto;display:block}"
    "figcaption{font-size:.88rem;color:var(--soft);padding:.3rem .4rem}"
    "figure.wide{max-width:44rem}svg text{font-family:system-ui,sans-serif}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;"
    "font-variant-numeric:tabular-nums}th,td{padding:.25rem .6rem;text-align:left;"
    "border-bottom:1px solid var(--grid);vertical-align:top}td.n,th.n{text-align:right;"
    "white-space:nowrap}thead th{position:sticky;top:0;background:var(--paper)}"
    "caption{text-align:left;padding:.25rem .6rem}tbody "
    "th{font-weight:500}td{overflow-wrap:anywhere}.id,.rows td{white-space:nowrap}\n"
    "details{margin:.6rem 0}summary{cursor:pointer}.bad{color:var(--s2)}\n"
    "@media print{figure{break-inside:avoid}.plots{grid-template-columns:1fr 1fr}}\n";

void rung_html_begin(struct rung_text *out, const char *title)
{
    rung_text_append(out, "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
                          "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n"
                          "<title>");
    rung_text_append_xml(out, title);
    rung_text_append(out, "</title>\n<style>\n");
    rung_text_append(out, style);
    rung_text_append(out, "</style>\n</head>\n<body>\n");
}

void rung_html_end(struct rung_text *out)
{
    rung_text_append(out, "</body>\n</html>\n");
}
