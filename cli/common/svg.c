/* SPDX-License-Identifier: Apache-2.0 */
/* svg.c - see svg.h. */
#include "svg.h"

void cli_svg_text(FILE *f, double x, double y, const char *anchor, const char *s)
{
    fprintf(f, "<text x=\"%g\" y=\"%g\" text-anchor=\"%s\">", x, y, anchor);
    for (; *s; s++) {
        if (*s == '<')
            fputs("&lt;", f);
        else if (*s == '&')
            fputs("&amp;", f);
        else if ((unsigned char)*s >= ' ')
            fputc(*s, f);
    }
    fputs("</text>\n", f);
}
