/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spec.c - fuzz target: specifications of back ends. netio.c and spec.c parse them. Option parsers
 * alone replace the back ends, because the input must not create a device.
 *
 * Input: the specification. Checks: a rejection has a message; an accepted number is in range.
 */
#include "spec.h"
#include "impair_path.h"

#include "fuzz.h"

static struct netio opened;

static void nothing(struct netio *n)
{
    (void)n;
}

static const struct netio_ops ops = {.close = nothing};

static struct netio *read_spec(const char *who, const char *args, const char *keys,
                               const struct netio_err *err)
{
    struct spec s;
    uint64_t number = 0;
    unsigned choice;

    if (spec_parse(&s, who, args, keys, err))
        return NULL;
    FUZZ_CHECK(s.count <= SPEC_OPTIONS && strlen(s.name) < SPEC_TEXT);
    if (spec_get_number(&s, who, "mtu", 68, 9000, 1500, &number, err) ||
        spec_get_choice(&s, who, "side", "auto a b", &choice, err))
        return NULL;
    FUZZ_CHECK(number >= 68 && number <= 9000 && choice <= 2);
    opened.ops = &ops;
    return &opened;
}

struct netio *af_xdp_open(const char *args, const struct netio_config *cfg,
                          const struct netio_err *err)
{
    (void)cfg;
    return read_spec("af_xdp", args, "queue mode copy mtu", err);
}

struct netio *tap_open(const char *args, const struct netio_config *cfg,
                       const struct netio_err *err)
{
    (void)cfg;
    return read_spec("tap", args, "host mtu", err);
}

struct netio *wire_open(const char *args, const struct netio_config *cfg,
                        const struct netio_err *err)
{
    return backend_one_queue("wire", cfg, err) ? NULL : read_spec("wire", args, "side mtu", err);
}

struct netio *dpdk_open(const char *args, const struct netio_config *cfg,
                        const struct netio_err *err)
{
    (void)cfg;
    return read_spec("dpdk", args, "queue queues args eal mtu side", err);
}

struct netio *pcap_file_open(const char *args, const struct netio_config *cfg,
                             const struct netio_err *err)
{
    (void)cfg;
    return read_spec("pcap", args, "in out pace mac mtu", err);
}

struct netio *tee_open(const char *between, const char *inner, const struct netio_config *cfg,
                       const struct netio_err *err)
{
    (void)between;
    return netio_open(inner, cfg, err->text, err->size);
}

struct netio *workers_open(const char *between, const char *inner, const struct netio_config *cfg,
                           const struct netio_err *err)
{
    (void)between;
    return netio_open(inner, cfg, err->text, err->size);
}

struct netio *impair_open(const char *between, const char *inner, const struct netio_config *cfg,
                          const struct netio_err *err)
{
    struct impair_options o;

    if (impair_options_parse(&o, between, 1, err))
        return NULL;
    FUZZ_CHECK(o.loss <= IMPAIR_ALWAYS && o.reorder <= IMPAIR_ALWAYS);
    FUZZ_CHECK(o.corrupt <= IMPAIR_ALWAYS && o.duplicate <= IMPAIR_ALWAYS);
    FUZZ_CHECK(o.queue >= 1 && o.queue <= 65536 && o.gap >= 1 && o.bits >= 1 && o.bits <= 64);
    FUZZ_CHECK(o.delay_ns <= 3600000000000u && o.rate <= 1000000000000u);
    return netio_open(inner, cfg, err->text, err->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct netio_config cfg = {.ip = {10, 0, 0, 1}, .queue = size & 1};
    char *text = malloc(size + 1), err[160] = "";
    struct netio *n;

    FUZZ_CHECK(text);
    memcpy(text, data, size);
    text[size] = 0;
    n = netio_open(text, &cfg, err, sizeof(err));
    if (n)
        netio_close(n);
    else
        FUZZ_CHECK(err[0] && memchr(err, 0, sizeof(err)));
    free(text);
    return 0;
}
