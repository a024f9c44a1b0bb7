/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extcap.c - see extcap.h. An interface of Wireshark is a TOE: "toehold" the toed of the default
 * socket (or $TOEHOLD_SOCKET), "toehold-PID" the engine within program PID.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <toe/attach.h>
#include <toe/capture.h>
#include <toe/inline.h>
#include <toe/number.h>

#include "common/daemon.h"
#include "common/exit.h"
#include "common/message.h"
#include "extcap.h"
#include "filter.h"

#define PREFIX  "toehold"
#define INLINES "/run/toehold/inline-*.sock"

bool extcap_asked(const struct extcap *x)
{
    return x->interfaces || x->dlts || x->config || x->capture || x->interface || x->fifo ||
           x->filter || x->version;
}

static void list_inlines(void)
{
    glob_t found;
    size_t i;

    if (glob(INLINES, 0, NULL, &found) != 0)
        return;
    for (i = 0; i < found.gl_pathc; i++) {
        const char *pid = strrchr(found.gl_pathv[i], '-') + 1;
        int n = (int)strcspn(pid, ".");

        printf("interface {value=" PREFIX "-%.*s}{display=Toehold in process %.*s}\n", n, pid, n,
               pid);
    }
    globfree(&found);
}

static void list_interfaces(void)
{
    printf("extcap {version=" TOEHOLD_VERSION "}{display=Toehold}\n"
           "interface {value=" PREFIX "}{display=Toehold: toed}\n");
    list_inlines();
}

static void list_config(void)
{
    printf("arg {number=0}{call=--socket}{display=Socket of the TOE}{type=string}"
           "{tooltip=of toed or of a program with an engine in it; empty: that of the interface}\n"
           "arg {number=1}{call=--snaplen}{display=Bytes of each frame}{type=unsigned}"
           "{range=0,%u}{default=%u}\n"
           "arg {number=2}{call=--buffer-mib}{display=Buffer of each engine (MiB)}{type=unsigned}"
           "{range=1,%u}{default=8}{tooltip=a power of two}\n"
           "arg {number=3}{call=--drops}{display=Only frames that the TOE drops}"
           "{type=boolflag}{default=false}\n",
           TOECAP_SNAPLEN_MAX, TOECAP_SNAPLEN_MAX, TOECAP_MIB_MAX);
}

bool extcap_socket(const char *interface, char *path, size_t size)
{
    char want[TOE_NUMBER_WANT];
    uint64_t pid;

    if (strcmp(interface, PREFIX) == 0) {
        snprintf(path, size, "%s", cli_socket_path(NULL));
        return true;
    }
    if (strncmp(interface, PREFIX "-", strlen(PREFIX) + 1) == 0 &&
        toe_number(interface + strlen(PREFIX) + 1, 1, INT32_MAX, &pid, want, sizeof want)) {
        snprintf(path, size, TOEDEV_INLINE_STATS, (int)pid);
        return true;
    }
    cli_message("capture: there is no interface %s; --extcap-interfaces lists them", interface);
    return false;
}

/* Wireshark shows what is printed as the reason why a filter is wrong. */
static int answer_filter(const struct extcap *x)
{
    char why[256];
    struct packet_filter *f = packet_filter_new(x->filter, why, sizeof why);

    if (!f)
        printf("%s\n", why);
    packet_filter_free(f);
    return CLI_OK;
}

int extcap_answer(const struct extcap *x)
{
    char path[256];

    if (x->interfaces) {
        list_interfaces();
        return CLI_OK;
    }
    if (!x->interface) {
        cli_message("capture: --extcap-interface is missing");
        return CLI_USAGE;
    }
    if (!extcap_socket(x->interface, path, sizeof path))
        return CLI_USAGE;
    if (x->dlts)
        printf("dlt {number=1}{name=EN10MB}{display=Ethernet}\n");
    else if (x->config)
        list_config();
    else if (x->filter)
        return answer_filter(x);
    else {
        cli_message("capture: give --extcap-interfaces, --extcap-dlts, --extcap-config or "
                    "--capture");
        return CLI_USAGE;
    }
    return CLI_OK;
}
