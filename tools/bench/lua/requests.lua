-- Script for wrk: sends the NUL-separated requests of a file in a loop, starting at a given index. In each request, the
-- character U+0001 is replaced by eight digits that are unique within the run.
local texts, position, serial = {}, 0, 0

function init(args)
  local file = assert(io.open(args[1], "rb"))
  for text in file:read("*a"):gmatch("[^%z]+") do
    local before, after = text:match("^(.-)\1(.*)$")
    texts[#texts + 1] = before and { before, after } or text
  end
  file:close()
  position = tonumber(args[2]) % #texts
end

function request()
  position = position % #texts + 1
  local text = texts[position]
  if type(text) == "string" then return text end
  serial = serial + 1
  return text[1] .. string.format("%08d", serial) .. text[2]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"seconds":%.6f,"p50Ms":%.3f,"p99Ms":%.3f,"errors":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout
  ))
end
