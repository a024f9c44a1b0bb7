/* SPDX-License-Identifier: Apache-2.0 */
/* change.c - see change.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../common/message.h"
#include "../common/verbosity.h"
#include "change.h"

#define LINK_TRIES   100 /* a driver that resets its card takes seconds */
#define LINK_WAIT_MS 50

static bool is_running(const char *interface)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq r = {0};
    bool running;

    if (fd < 0)
        return true;
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", interface);
    running = ioctl(fd, SIOCGIFFLAGS, &r) == 0 && r.ifr_flags & IFF_RUNNING;
    close(fd);
    return running;
}

static void wait_for_link(const char *interface)
{
    int i;

    for (i = 0; i < LINK_TRIES && !is_running(interface); i++)
        poll(NULL, 0, LINK_WAIT_MS);
}

/* Sets what belongs to the interface. */
static bool change_nic(const struct nic *target, char *why, size_t why_size)
{
    bool ran = is_running(target->name);
    const char *what;

    cli_detail("sets %s: %u parameters", target->name, (unsigned)target->count);
    if (target->count && !nic_write(target, &what)) {
        snprintf(why, why_size, "%s: cannot set %s: %s", target->name, what,
                 errno == EPERM ? "needs CAP_NET_ADMIN: run as root" : strerror(errno));
        return false;
    }
    if (ran)
        wait_for_link(target->name);
    return true;
}

static bool change_buffers(const struct tune_buffers *target, char *why, size_t why_size)
{
    const char *what;

    if (tune_buffers_write(target, &what))
        return true;
    snprintf(why, why_size, "cannot set %s: %s", what, strerror(errno));
    return false;
}

bool tune_change(const struct tune_state *target, char *why, size_t why_size)
{
    return change_nic(&target->nic, why, why_size) &&
           change_buffers(&target->buffers, why, why_size) &&
           tune_toe_write(&target->toe, why, why_size);
}

bool tune_effective(const struct tune_state *before, const struct tune_setting *s, char *why,
                    size_t why_size)
{
    struct nic now;
    int w;

    if (!s->nic_flip && !s->sets_usecs)
        return true;
    if (!nic_read(before->nic.name, &now)) {
        snprintf(why, why_size, "%s: %s", before->nic.name, strerror(errno));
        return false;
    }
    for (w = 0; w < NIC_WORDS; w++)
        if (s->nic_flip >> w & 1 && nic_active(&now, w) == nic_active(&before->nic, w)) {
            snprintf(why, why_size, "%s stays %s: it depends on another offload or on the driver",
                     nic_word_name(w), nic_active(&now, w) ? "on" : "off");
            return false;
        }
    if (s->sets_usecs && now.rx_usecs != s->rx_usecs) {
        snprintf(why, why_size, "the driver made rx-usecs %u of it", now.rx_usecs);
        return false;
    }
    return true;
}

/* ---- back ---- */

static bool restore_nic(const struct nic *before)
{
    char why[TUNE_WHY];
    const char *what = "its state";
    struct nic now;

    if (before->count == 0)
        return true;
    if (!nic_read(before->name, &now) && !now.exists) {
        cli_message("tune: %s no longer exists, and its settings neither", before->name);
        return true;
    }
    if (!change_nic(before, why, sizeof why)) {
        cli_message("tune: %s", why);
        return false;
    }
    if (nic_read(before->name, &now) && nic_same(&now, before, &what))
        return true;
    cli_message("tune: %s: %s is not as it was before; compare ethtool -k and -c", before->name,
                what);
    return false;
}

static bool restore_toe(const struct tune_toe *before)
{
    char why[TUNE_WHY] = "";
    struct tune_toe now;

    if (before->count == 0)
        return true;
    if (!tune_toe_read(before->socket, &now, why, sizeof why)) {
        cli_message("tune: %s; offloads of a toed end with it", why);
        return true;
    }
    if (tune_toe_write(before, why, sizeof why) &&
        tune_toe_read(before->socket, &now, why, sizeof why) && tune_toe_same(&now, before))
        return true;
    cli_message("tune: the offloads of toed are not as they were before: %s",
                *why ? why : "another program has changed them");
    return false;
}

bool tune_restore(const struct tune_saved *s)
{
    bool ok = restore_nic(&s->before.nic);
    char why[TUNE_WHY];

    if (!change_buffers(&s->before.buffers, why, sizeof why)) {
        cli_message("tune: %s", why);
        ok = false;
    }
    return restore_toe(&s->before.toe) && ok;
}

/* Removes the file of settings that --apply wrote, unless it has been edited since. */
static void remove_file(const struct tune_saved *s)
{
    char text[sizeof s->text] = "";
    size_t n = 0;
    FILE *f = s->file[0] ? fopen(s->file, "re") : NULL;

    if (!f)
        return;
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    if (strcmp(text, s->text) != 0)
        cli_message("tune: %s has been edited since, and stays", s->file);
    else if (unlink(s->file) != 0)
        cli_message("tune: cannot remove %s: %s", s->file, strerror(errno));
}

bool tune_revert(struct tune_saved *s)
{
    if (!tune_restore(s)) {
        cli_message("tune: %s keeps the settings of before; repeat `toehold tune --revert`, or "
                    "remove it when all is right",
                    s->path);
        return false;
    }
    remove_file(s);
    return tune_forget(s);
}
