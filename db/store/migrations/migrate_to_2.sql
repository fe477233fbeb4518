-- Version 2: the fields of the tensor-core families.
ALTER TABLE config ADD COLUMN warps_m INTEGER NOT NULL DEFAULT 1 CHECK (warps_m BETWEEN 0 AND 1048576);
ALTER TABLE config ADD COLUMN warps_n INTEGER NOT NULL DEFAULT 1 CHECK (warps_n BETWEEN 0 AND 1048576);
ALTER TABLE config ADD COLUMN multicast_a INTEGER NOT NULL DEFAULT 1 CHECK (multicast_a BETWEEN 0 AND 1048576);
ALTER TABLE config ADD COLUMN multicast_b INTEGER NOT NULL DEFAULT 1 CHECK (multicast_b BETWEEN 0 AND 1048576);
DROP INDEX config_identity;
CREATE UNIQUE INDEX config_identity ON config (
  family, block_m, block_n, block_k, thread_m, thread_n, stages, async_copy, vector_width, boundary, split_k, raster,
  min_blocks, swap_ab, pack_ab, cluster, along_k, trim, warps_m, warps_n, multicast_a, multicast_b);
