-- SPDX-License-Identifier: Apache-2.0
-- Requests the paths of a file in its order, again and again. Runs after wrk_report.lua.
local requests, at = {}, 0

function init(args)
    for path in io.lines(args[1]) do
        requests[#requests + 1] = wrk.format('GET', path)
    end
end

function request()
    at = at % #requests + 1
    return requests[at]
end
