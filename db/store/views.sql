-- The database in words, for the sqlite3 shell: SELECT * FROM winner; SELECT * FROM candidate WHERE shape = '512x512x512' ORDER BY median_us;

-- A problem as a shapes file spells it. The compute mode, which a problem here does not have, belongs between head and tail. m and n
-- are C's rows and columns; for a gate op(B) has twice as many columns (swiglu = 7), or op(A) has twice as many rows (swiglu_rows = 8).
CREATE VIEW problem_text AS
SELECT p.id AS problem_id,
       p.m || 'x' || p.n || 'x' || p.k
         || CASE WHEN p.type_a <> 0 THEN ' dtype=' || a.name ELSE '' END
         || CASE WHEN p.type_b <> p.type_a THEN ' btype=' || b.name ELSE '' END
         || CASE WHEN p.type_c <> p.type_a THEN ' ctype=' || c.name ELSE '' END AS head,
       CASE WHEN p.op_a <> 0 OR p.op_b <> 0 THEN ' ops=' || substr('nt', 1 + p.op_a, 1) || substr('nt', 1 + p.op_b, 1) ELSE '' END
         || CASE WHEN p.batch <> 1 THEN ' batch=' || p.batch ELSE '' END
         || CASE WHEN p.lda <> iif(p.op_a, p.product_rows, p.k) THEN ' lda=' || p.lda ELSE '' END
         || CASE WHEN p.ldb <> iif(p.op_b, p.k, p.product_columns) THEN ' ldb=' || p.ldb ELSE '' END
         || CASE WHEN p.ldc <> p.n THEN ' ldc=' || p.ldc ELSE '' END
         || CASE WHEN p.batch <> 1 AND p.stride_a <> iif(p.op_a, p.k, p.product_rows) * p.lda THEN ' stride_a=' || p.stride_a ELSE '' END
         || CASE WHEN p.batch <> 1 AND p.stride_b <> iif(p.op_b, p.product_columns, p.k) * p.ldb THEN ' stride_b=' || p.stride_b ELSE '' END
         || CASE WHEN p.batch <> 1 AND p.stride_c <> p.m * p.ldc THEN ' stride_c=' || p.stride_c ELSE '' END
         || CASE WHEN p.alignment <> 16 THEN ' align=' || p.alignment ELSE '' END
         || CASE WHEN p.reads_c THEN ' beta=1' ELSE '' END
         || CASE WHEN p.epilogue <> 0 THEN ' epilogue=' || substr(
                   CASE p.bias WHEN 1 THEN '+bias' WHEN 2 THEN '+bias_rows' ELSE '' END
                     || CASE WHEN p.activation <> 0 THEN '+' || v.name ELSE '' END
                     || CASE WHEN p.residual THEN '+residual' ELSE '' END, 2) ELSE '' END
         || CASE WHEN p.bias <> 0 AND p.type_bias <> p.type_c THEN ' bias_type=' || t.name ELSE '' END
         || CASE WHEN p.residual AND p.ldr <> p.n THEN ' ldr=' || p.ldr ELSE '' END
         || CASE WHEN p.residual AND p.batch <> 1 AND p.stride_r <> p.m * p.ldr THEN ' stride_r=' || p.stride_r ELSE '' END AS tail,
       substr('nt', 1 + p.op_a, 1) || substr('nt', 1 + p.op_b, 1) AS ops,
       a.name AS type_a, b.name AS type_b, c.name AS type_c, x.name AS bias, v.name AS activation, e.name AS epilogue, t.name AS type_bias,
       iif(p.type_a = 3, 3, 0) AS default_compute,
       2e-6 * p.product_rows * p.product_columns * p.k * p.batch AS mflop -- over microseconds: TFLOP/s
FROM (SELECT *, m * iif(activation = 8, 2, 1) AS product_rows, n * iif(activation = 7, 2, 1) AS product_columns FROM problem) AS p
JOIN element_type AS a ON a.value = p.type_a
JOIN element_type AS b ON b.value = p.type_b
JOIN element_type AS c ON c.value = p.type_c
JOIN bias_axis AS x ON x.value = p.bias
JOIN epilogue AS e ON e.value = p.epilogue
JOIN activation AS v ON v.value = p.activation
JOIN element_type AS t ON t.value = p.type_bias;

-- A config as the command line spells it: the family, the tile, then what differs from neutral (wgmma = 6 and skinny = 13 imply
-- their vectors and boundary = 3, hardware).
CREATE VIEW config_text AS
SELECT g.id AS config_id,
       f.name
         || CASE WHEN g.block_m <> 1 OR g.block_n <> 1 OR g.block_k <> 1 THEN ' ' || g.block_m || 'x' || g.block_n || 'x' || g.block_k ELSE '' END
         || CASE WHEN g.thread_m <> 1 OR g.thread_n <> 1 THEN ' t' || g.thread_m || 'x' || g.thread_n ELSE '' END
         || CASE WHEN g.warps_m <> 1 OR g.warps_n <> 1 THEN ' w' || g.warps_m || iif(g.warps_n <> 1, 'x' || g.warps_n, '') ELSE '' END
         || CASE WHEN g.stages <> 1 THEN ' s' || g.stages ELSE '' END
         || CASE WHEN g.async_copy <> 0 THEN ' async' || iif(g.async_copy <> 1, g.async_copy, '') ELSE '' END
         || CASE WHEN g.vector_width <> CASE g.family WHEN 6 THEN 8 WHEN 13 THEN 4 ELSE 1 END THEN ' v' || g.vector_width ELSE '' END
         || CASE WHEN g.boundary <> iif(g.family IN (6, 13), 3, 1) THEN ' ' || b.name ELSE '' END
         || CASE WHEN g.multicast_a <> 1 OR g.multicast_b <> 1 THEN ' c' || g.multicast_b || 'x' || g.multicast_a ELSE '' END
         || CASE WHEN g.cluster <> 1 THEN ' cluster' || g.cluster ELSE '' END
         || CASE WHEN g.split_k <> 1 THEN ' split' || g.split_k ELSE '' END
         || CASE WHEN g.stream_k <> 0 THEN ' stream' || iif(g.stream_k <> 1, g.stream_k, '') ELSE '' END
         || CASE WHEN g.slice_k <> 1 THEN ' slice' || g.slice_k ELSE '' END
         || CASE WHEN g.planes <> 1 THEN ' planes' || g.planes ELSE '' END
         || CASE WHEN g.promote_k <> 0 THEN ' promote' || g.promote_k ELSE '' END
         || CASE WHEN g.ping_pong <> 0 THEN ' pingpong' || iif(g.ping_pong <> 1, g.ping_pong, '') ELSE '' END
         || CASE WHEN g.fma_order <> 0 THEN ' order' || g.fma_order ELSE '' END
         || CASE WHEN g.along_k <> 0 THEN ' along' || iif(g.along_k <> 1, g.along_k, '') ELSE '' END
         || CASE WHEN g.min_blocks <> 1 THEN ' o' || g.min_blocks ELSE '' END
         || CASE WHEN g.swap_ab <> 0 THEN ' swap' || iif(g.swap_ab <> 1, g.swap_ab, '') ELSE '' END
         || CASE WHEN g.pack_ab <> 0 THEN ' pack' || g.pack_ab ELSE '' END
         || CASE WHEN g.trim <> 0 THEN ' trim' || iif(g.trim <> 1, g.trim, '') ELSE '' END
         || CASE WHEN g.raster <> 0 THEN ' raster' || g.raster ELSE '' END
         || CASE WHEN g.overlap <> 0 THEN ' overlap' || iif(g.overlap <> 1, g.overlap, '') ELSE '' END AS config
FROM config AS g
JOIN family AS f ON f.value = g.family
JOIN boundary AS b ON b.value = g.boundary;

-- Every measurement of every candidate.
CREATE VIEW candidate AS
SELECT p.head || p.tail AS shape, d.name AS device, g.config, o.name AS outcome,
       x.median_us, round(p.mflop / x.median_us, 6) AS tflops, x.low_us, x.high_us, x.samples, x.error_ratio,
       x.registers, x.spill_bytes, x.shared_bytes, x.workspace_bytes, x.sm_clock_mhz, x.throttled, x.detail,
       iif(l.cold_l2, 'cold', 'warm') || ' L2, ' || iif(l.graph, 'graph', 'single launches') || ', ' || l.data || ' data' AS policy,
       d.compute_capability, d.sm_count, e.driver_version, e.nvrtc_version, e.power_limit,
       x.kernel_name, x.kernel_hash, datetime(x.measured_at, 'unixepoch') AS measured_at, x.id AS measurement_id
FROM measurement AS x
JOIN environment AS e ON e.id = x.environment_id
JOIN device AS d ON d.id = e.device_id
JOIN problem_text AS p ON p.problem_id = x.problem_id
JOIN config_text AS g ON g.config_id = x.config_id
JOIN policy AS l ON l.id = x.policy_id
JOIN outcome AS o ON o.value = x.outcome;

-- The decision that counts: one row a problem (with its compute mode), device and policy. The newest is the one written last: clocks
-- go back.
CREATE VIEW current_selection AS
SELECT id, environment_id, device_id, problem_id, compute, policy_id, config_id, median_us, candidates, reason, search_hash, origin, decided_at,
       default_us, runner_up_config_id, runner_up_us, predicted
FROM (SELECT s.*, e.device_id,
             row_number() OVER (PARTITION BY e.device_id, s.problem_id, s.compute, s.policy_id
                                ORDER BY s.predicted, s.origin = 'user' DESC, s.origin = 'shipped' DESC, s.id DESC) AS place
      FROM selection AS s JOIN environment AS e ON e.id = s.environment_id)
WHERE place = 1;

-- The winner of each problem on each device, under the default policy.
CREATE VIEW winner AS
SELECT p.head || iif(s.compute <> p.default_compute, ' compute=' || c.name, '') || p.tail AS shape,
       d.name AS device, g.config, s.median_us, round(p.mflop / s.median_us, 6) AS tflops, s.predicted,
       s.default_us, round(s.default_us / s.median_us, 6) AS vs_default, r.config AS runner_up, s.runner_up_us,
       (SELECT x.error_ratio FROM measurement AS x JOIN environment AS ex ON ex.id = x.environment_id
        WHERE x.problem_id = s.problem_id AND x.policy_id = s.policy_id AND x.config_id = s.config_id AND ex.device_id = s.device_id
        ORDER BY x.id DESC LIMIT 1) AS error_ratio,
       s.reason, s.origin, s.candidates, datetime(s.decided_at, 'unixepoch') AS decided_at,
       q.m, q.n, q.k, q.batch, p.ops, p.type_a, p.type_b, p.type_c, c.name AS compute, q.lda, q.ldb, q.ldc, q.stride_a, q.stride_b, q.stride_c,
       q.alignment, q.reads_c,
       p.bias, p.activation, q.residual, p.epilogue, p.type_bias, q.ldr, q.stride_r, d.compute_capability, d.sm_count,
       f.name AS family, h.block_m, h.block_n, h.block_k, h.thread_m, h.thread_n, h.stages, h.async_copy, h.vector_width,
       b.name AS boundary, h.split_k, h.raster, h.min_blocks, h.swap_ab, h.pack_ab, h.cluster, h.along_k, h.trim,
       h.warps_m, h.warps_n, h.multicast_a, h.multicast_b, h.planes, h.promote_k, h.ping_pong, h.overlap,
       h.fma_order, h.stream_k, h.slice_k
FROM current_selection AS s
JOIN policy AS l ON l.id = s.policy_id AND l.cold_l2 = 1 AND l.graph = 1 AND l.data = 'normal'
JOIN device AS d ON d.id = s.device_id
JOIN problem AS q ON q.id = s.problem_id
JOIN problem_text AS p ON p.problem_id = s.problem_id
JOIN compute_mode AS c ON c.value = s.compute
JOIN config AS h ON h.id = s.config_id
JOIN config_text AS g ON g.config_id = s.config_id
LEFT JOIN config_text AS r ON r.config_id = s.runner_up_config_id
JOIN family AS f ON f.value = h.family
JOIN boundary AS b ON b.value = h.boundary;
