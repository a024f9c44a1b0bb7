-- SPDX-License-Identifier: Apache-2.0
-- What wrk found, as one line of JSON; times in microseconds.
function done(summary, latency, requests)
    local e = summary.errors
    io.write(string.format(
        'REPORT {"requests": %d, "bytes": %d, "duration_us": %d, "p50_us": %d, "p99_us": %d, ' ..
        '"errors": {"connect": %d, "read": %d, "write": %d, "status": %d, "timeout": %d}}\n',
        summary.requests, summary.bytes, summary.duration,
        latency:percentile(50), latency:percentile(99),
        e.connect, e.read, e.write, e.status, e.timeout))
end
