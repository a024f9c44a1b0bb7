/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c - samples one by one: RFC 4180, with a head line that names the columns. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "csv.h"

bool csv_write(const struct result *r, const char *path, char *why, size_t size)
{
    FILE *f = fopen(path, "we");
    size_t i;
    bool ok;

    if (!f) {
        snprintf(why, size, "cannot write %s: %s", path, strerror(errno));
        return false;
    }
    fprintf(f, "seq,at_ns,rtt_ns,state,flow,source,resolution_ns\r\n");
    for (i = 0; i < r->kept_count; i++) {
        const struct sample *s = &r->kept[i];
        const char *flow = s->flow < r->flow_count ? r->flows[s->flow] : "";

        fprintf(f, "%" PRIu64 ",%" PRIu64 ",", s->seq, s->at_ns);
        if (s->rtt_ns == UINT64_MAX)
            fprintf(f, ",lost,");
        else
            fprintf(f, "%" PRIu64 ",ok,", s->rtt_ns);
        fprintf(f, "%s,%s,%.9g\r\n", flow, r->source.name, r->source.resolution_ns);
    }
    ok = !ferror(f);
    if (fclose(f) != 0 || !ok) {
        snprintf(why, size, "cannot write %s: %s", path, strerror(errno));
        return false;
    }
    return true;
}
