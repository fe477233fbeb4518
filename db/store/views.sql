-- The database in words, for the sqlite3 shell: SELECT * FROM winner; SELECT * FROM candidate WHERE shape = '512x512x512' ORDER BY median_us;
-- What stands in braces is made of the program's tables of fields (views.cpp).

-- Each field of a problem and of a config in a column; those that a row's text leaves out are neutral.
CREATE VIEW problem_fields AS
SELECT id,
       {problem columns}
FROM problem;

CREATE VIEW config_fields AS
SELECT id,
       {config columns}
FROM config;

-- A problem as a shapes file spells it. The compute mode, which a problem here does not have, belongs between head and tail. m and n
-- are C's rows and columns; for a gate op(B) has twice as many columns (swiglu), or op(A) has twice as many rows (swiglu_rows).
CREATE VIEW problem_text AS
SELECT p.id AS problem_id,
       p.m || 'x' || p.n || 'x' || p.k {keys before compute} AS head,
       '' {keys behind compute} AS tail,
       {compute mode} AS default_compute,
       2e-6 * p.product_rows * p.product_columns * p.k * p.batch AS mflop -- over microseconds: TFLOP/s
FROM (SELECT *, m * iif(activation = 'swiglu_rows', 2, 1) AS product_rows, n * iif(activation = 'swiglu', 2, 1) AS product_columns
      FROM problem_fields) AS p;

-- A config as the command line spells it: the family, the tile, then what differs from neutral, or from what the family implies.
CREATE VIEW config_text AS
SELECT g.id AS config_id,
       g.family {tokens} AS config
FROM config_fields AS g;

-- Every measurement of every candidate.
CREATE VIEW candidate AS
SELECT p.head || p.tail AS shape, d.name AS device, g.config, o.name AS outcome,
       x.median_us, round(p.mflop / x.median_us, 6) AS tflops, x.low_us, x.high_us, x.samples, x.error_ratio,
       x.registers, x.spill_bytes, x.shared_bytes, x.workspace_bytes, x.sm_clock_mhz, x.throttled, x.detail,
       iif(l.cold_l2, 'cold', 'warm') || ' L2, ' || iif(l.graph, 'graph', 'single launches') ||
       iif(l.other_kernel, ', another kernel between, ', ', back to back, ') || l.data || ' data' AS policy,
       d.compute_capability, d.sm_count, e.driver_version, e.nvrtc_version, e.power_limit,
       x.kernel_name, x.kernel_hash, datetime(x.measured_at, 'unixepoch') AS measured_at, x.id AS measurement_id
FROM measurement AS x
JOIN environment AS e ON e.id = x.environment_id
JOIN device AS d ON d.id = e.device_id
JOIN problem_text AS p ON p.problem_id = x.problem_id
JOIN config_text AS g ON g.config_id = x.config_id
JOIN policy AS l ON l.id = x.policy_id
JOIN outcome AS o ON o.value = x.outcome;

-- The decision that counts: one row a problem (with its compute mode), device and policy. One by times with another kernel between goes
-- before those by times back to back. The newest is the one written last: clocks go back.
CREATE VIEW current_selection AS
SELECT id, environment_id, device_id, problem_id, compute, policy_id, config_id, median_us, candidates, reason, search_hash, origin, decided_at,
       default_us, runner_up_config_id, runner_up_us, predicted
FROM (SELECT s.*, e.device_id,
             row_number() OVER (PARTITION BY e.device_id, s.problem_id, s.compute, l.cold_l2, l.graph, l.data
                                ORDER BY s.predicted, s.origin = 'user' DESC, s.origin = 'shipped' DESC, l.other_kernel DESC, s.id DESC)
             AS place
      FROM selection AS s JOIN environment AS e ON e.id = s.environment_id JOIN policy AS l ON l.id = s.policy_id)
WHERE place = 1;

-- The winner of each problem on each device, under the default policy.
CREATE VIEW winner AS
SELECT p.head || iif(c.name <> p.default_compute, ' compute=' || c.name, '') || p.tail AS shape,
       d.name AS device, g.config, s.median_us, round(p.mflop / s.median_us, 6) AS tflops, s.predicted,
       s.default_us, round(s.default_us / s.median_us, 6) AS vs_default, r.config AS runner_up, s.runner_up_us,
       (SELECT x.error_ratio FROM measurement AS x JOIN environment AS ex ON ex.id = x.environment_id
        WHERE x.problem_id = s.problem_id AND x.policy_id = s.policy_id AND x.config_id = s.config_id AND ex.device_id = s.device_id
        ORDER BY x.id DESC LIMIT 1) AS error_ratio,
       s.reason, s.origin, s.candidates, datetime(s.decided_at, 'unixepoch') AS decided_at,
       c.name AS compute, q.op_a || q.op_b AS ops, {winner's problem},
       d.compute_capability, d.sm_count,
       {winner's config}
FROM current_selection AS s
JOIN policy AS l ON l.id = s.policy_id AND l.cold_l2 = 1 AND l.graph = 1 AND l.data = 'normal'
JOIN device AS d ON d.id = s.device_id
JOIN problem_fields AS q ON q.id = s.problem_id
JOIN problem_text AS p ON p.problem_id = s.problem_id
JOIN compute_mode AS c ON c.value = s.compute
JOIN config_fields AS h ON h.id = s.config_id
JOIN config_text AS g ON g.config_id = s.config_id
LEFT JOIN config_text AS r ON r.config_id = s.runner_up_config_id;
