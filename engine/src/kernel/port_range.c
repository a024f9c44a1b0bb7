/* SPDX-License-Identifier: Apache-2.0 */
/* port_range.c - the ephemeral ports of this machine (port_range.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <toe/port_list.h>

#include "port_range.h"

static FILE *setting(const char *sys, const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/%s", sys, name);
    return fopen(path, "re");
}

void port_range_read(const char *sys, struct port_range *r)
{
    FILE *f = setting(sys, "ip_local_port_range");
    unsigned first = 0, last = 0;
    char *line = NULL;
    size_t room = 0;

    memset(r, 0, sizeof(*r));
    if (f && fscanf(f, "%u %u", &first, &last) == 2 && first && first <= last && last <= 65535) {
        r->first = (uint16_t)first;
        r->last = (uint16_t)last;
    }
    if (f)
        fclose(f);
    f = setting(sys, "ip_local_reserved_ports");
    if (f && getline(&line, &room, f) > 0)
        toe_port_list(line, r->reserved);
    free(line);
    if (f)
        fclose(f);
}
