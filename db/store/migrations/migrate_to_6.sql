-- Version 6: the way through a thread's products.
ALTER TABLE config ADD COLUMN fma_order INTEGER NOT NULL DEFAULT 0 CHECK (fma_order BETWEEN 0 AND 1048576);
DROP INDEX config_identity;
CREATE UNIQUE INDEX config_identity ON config (
  family, block_m, block_n, block_k, thread_m, thread_n, stages, async_copy, vector_width, boundary, split_k, raster,
  min_blocks, swap_ab, pack_ab, cluster, along_k, trim, warps_m, warps_n, multicast_a, multicast_b, planes,
  promote_k, ping_pong, overlap, fma_order);
