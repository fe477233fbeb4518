-- Version 5: whether a plan's kernels begin while the one before them ends.
ALTER TABLE config ADD COLUMN overlap INTEGER NOT NULL DEFAULT 0 CHECK (overlap BETWEEN 0 AND 1048576);
DROP INDEX config_identity;
CREATE UNIQUE INDEX config_identity ON config (
  family, block_m, block_n, block_k, thread_m, thread_n, stages, async_copy, vector_width, boundary, split_k, raster,
  min_blocks, swap_ab, pack_ab, cluster, along_k, trim, warps_m, warps_n, multicast_a, multicast_b, planes,
  promote_k, ping_pong, overlap);
