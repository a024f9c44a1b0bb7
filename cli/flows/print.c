/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - listeners and flows as text (print.h). */
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include <toe/device.h>

#include "print.h"

static long long number(const json_t *entry, const char *name)
{
    return json_integer_value(json_object_get(entry, name));
}

static const char *word(const json_t *entry, const char *name)
{
    const char *text = json_string_value(json_object_get(entry, name));

    return text ? text : "";
}

/* The states of ss: ESTAB, SYN-SENT, FIN-WAIT-1, ... */
static void state_text(const char *state, char *text, size_t size)
{
    size_t i;

    snprintf(text, size, "%s", strcmp(state, "established") == 0 ? "estab" : state);
    for (i = 0; text[i]; i++)
        if (text[i] >= 'a' && text[i] <= 'z')
            text[i] = (char)(text[i] - 'a' + 'A');
}

static void end_text(const json_t *entry, const char *addr, const char *port, char *text,
                     size_t size)
{
    const char *ip = word(entry, addr);

    if (!json_object_get(entry, addr))
        snprintf(text, size, "*");
    else
        snprintf(text, size, strchr(ip, ':') ? "[%s]:%lld" : "%s:%lld", ip, number(entry, port));
}

static void user_text(long long uid, char *text, size_t size)
{
    const struct passwd *user = getpwuid((uid_t)uid);

    if (user)
        snprintf(text, size, "%s", user->pw_name);
    else
        snprintf(text, size, "%lld", uid);
}

void print_flows_head(void)
{
    printf("%-10s %7s %7s %28s %28s  %s\n", "State", "Recv-Q", "Send-Q", "Local Address:Port",
           "Peer Address:Port", "Process");
}

static void print_rate(const char *name, long long bytes)
{
    double bits = (double)bytes * 8;

    if (bytes)
        printf(bits >= 1e9   ? " %s %.3gGbps"
               : bits >= 1e6 ? " %s %.3gMbps"
                             : " %s %.3gkbps",
               name,
               bits / (bits >= 1e9   ? 1e9
                       : bits >= 1e6 ? 1e6
                                     : 1e3));
}

static void print_if(const json_t *entry, const char *name)
{
    if (number(entry, name))
        printf(" %s:%lld", name, number(entry, name));
}

static void print_options(const json_t *entry)
{
    const json_t *option, *list = json_object_get(entry, "options");
    size_t i;

    json_array_foreach(list, i, option)
    {
        const char *name = json_string_value(option);

        if (name && strcmp(name, "wscale") == 0)
            printf(" wscale:%lld,%lld", number(entry, "snd_wscale"), number(entry, "rcv_wscale"));
        else if (name)
            printf(" %s", name);
    }
}

static void print_tcp(const json_t *entry)
{
    long long mss = number(entry, "mss") ? number(entry, "mss") : 536;
    long long cwnd = number(entry, "cwnd_bytes") / mss, ssthresh = number(entry, "ssthresh_bytes");

    printf("\t %s", word(entry, "congestion"));
    print_options(entry);
    printf(" rto:%g", (double)number(entry, "rto_us") / 1e3);
    if (number(entry, "backoff"))
        printf(" backoff:%lld", number(entry, "backoff"));
    if (number(entry, "srtt_us"))
        printf(" rtt:%g/%g minrtt:%g", (double)number(entry, "srtt_us") / 1e3,
               (double)number(entry, "rttvar_us") / 1e3, (double)number(entry, "min_rtt_us") / 1e3);
    printf(" mss:%lld pmtu:%lld rcvmss:%lld cwnd:%lld", number(entry, "mss"), number(entry, "pmtu"),
           number(entry, "rcv_mss"), cwnd ? cwnd : 1);
    if (ssthresh && ssthresh < TOEDEV_SSTHRESH_NONE)
        printf(" ssthresh:%lld", ssthresh / mss);
    print_if(entry, "bytes_sent");
    print_if(entry, "bytes_retrans");
    print_if(entry, "bytes_acked");
    print_if(entry, "bytes_received");
    print_rate("delivery_rate", number(entry, "delivery_rate"));
    if (json_is_true(json_object_get(entry, "app_limited")))
        printf(" app_limited");
    print_rate("pacing_rate", number(entry, "pacing_rate"));
    if (number(entry, "retransmits") || number(entry, "retrans_out"))
        printf(" retrans:%lld/%lld", (number(entry, "retrans_out") + mss - 1) / mss,
               number(entry, "retransmits"));
    print_if(entry, "in_flight");
    print_if(entry, "sacked");
    print_if(entry, "lost");
    print_if(entry, "dsacks");
    print_if(entry, "timeouts");
    printf(" snd_wnd:%lld rcv_wnd:%lld\n", number(entry, "snd_wnd"), number(entry, "rcv_wnd"));
}

void print_flow(const json_t *entry)
{
    char state[16], local[80], remote[80], user[64];

    state_text(word(entry, "state"), state, sizeof state);
    end_text(entry, "local", "local_port", local, sizeof local);
    end_text(entry, "remote", "remote_port", remote, sizeof remote);
    user_text(number(entry, "uid"), user, sizeof user);
    printf("%-10s %7lld %7lld %28s %28s  %s,pid=%lld,user=%s,%s,engine=%lld,qp=%lld", state,
           number(entry, "recv_queue"), number(entry, "send_queue"), local, remote,
           word(entry, "process"), number(entry, "pid"), user, word(entry, "toe"),
           number(entry, "engine"), number(entry, "qp"));
    if (json_object_get(entry, "flow")) /* the name of a flow for toehold trace */
        printf(",flow=%s", word(entry, "flow"));
    putchar('\n');
    if (json_object_get(entry, "congestion"))
        print_tcp(entry);
}
