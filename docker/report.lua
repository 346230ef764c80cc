-- For wrk: one line with the figures that docker/compare puts into its table.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("figures %.0f %.1f %.1f %.1f %d\n", summary.requests / (summary.duration / 1e6),
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency:percentile(99.9) / 1000,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
