PRAGMA application_id = 1953328484;
PRAGMA user_version = 13;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE element_type (value INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO element_type VALUES(0,'f32');
INSERT INTO element_type VALUES(1,'f16');
INSERT INTO element_type VALUES(2,'bf16');
INSERT INTO element_type VALUES(3,'f64');
INSERT INTO element_type VALUES(4,'s8');
INSERT INTO element_type VALUES(5,'s32');
CREATE TABLE compute_mode (value INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO compute_mode VALUES(0,'f32');
INSERT INTO compute_mode VALUES(1,'f32_strict');
INSERT INTO compute_mode VALUES(2,'tf32');
INSERT INTO compute_mode VALUES(3,'f64');
INSERT INTO compute_mode VALUES(4,'s32');
CREATE TABLE bias_axis (value INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO bias_axis VALUES(0,'none');
INSERT INTO bias_axis VALUES(1,'columns');
INSERT INTO bias_axis VALUES(2,'rows');
CREATE TABLE activation (value INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO activation VALUES(0,'none');
INSERT INTO activation VALUES(1,'relu');
INSERT INTO activation VALUES(2,'gelu');
INSERT INTO activation VALUES(3,'gelu_tanh');
INSERT INTO activation VALUES(4,'silu');
INSERT INTO activation VALUES(5,'sigmoid');
INSERT INTO activation VALUES(6,'tanh');
INSERT INTO activation VALUES(7,'swiglu');
INSERT INTO activation VALUES(8,'swiglu_rows');
CREATE TABLE epilogue (value INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO epilogue VALUES(0,'none');
INSERT INTO epilogue VALUES(1,'bias');
INSERT INTO epilogue VALUES(2,'activation');
INSERT INTO epilogue VALUES(3,'custom');
CREATE TABLE family (value INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO family VALUES(0,'naive');
INSERT INTO family VALUES(1,'tiled');
INSERT INTO family VALUES(2,'simt');
INSERT INTO family VALUES(3,'gemv');
INSERT INTO family VALUES(4,'reduce');
INSERT INTO family VALUES(5,'pack');
INSERT INTO family VALUES(6,'wgmma');
INSERT INTO family VALUES(7,'mma');
INSERT INTO family VALUES(8,'pad');
INSERT INTO family VALUES(9,'scan');
INSERT INTO family VALUES(10,'planes');
INSERT INTO family VALUES(11,'rescue');
INSERT INTO family VALUES(12,'fixup');
INSERT INTO family VALUES(13,'skinny');
CREATE TABLE boundary (value INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO boundary VALUES(0,'exact');
INSERT INTO boundary VALUES(1,'guarded');
INSERT INTO boundary VALUES(2,'peeled');
INSERT INTO boundary VALUES(3,'hardware');
CREATE TABLE outcome (value INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO outcome VALUES(0,'ok');
INSERT INTO outcome VALUES(1,'compile_failed');
INSERT INTO outcome VALUES(2,'exceeds_limits');
INSERT INTO outcome VALUES(3,'spills');
INSERT INTO outcome VALUES(4,'launch_failed');
INSERT INTO outcome VALUES(5,'crashed');
INSERT INTO outcome VALUES(6,'timed_out');
INSERT INTO outcome VALUES(7,'wrong_result');
INSERT INTO outcome VALUES(8,'inaccurate');
CREATE TABLE device (
  id                 INTEGER PRIMARY KEY,
  name               TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 200), -- as the driver spells it; 'host' is the emulation
  compute_capability INTEGER NOT NULL CHECK (compute_capability BETWEEN 0 AND 10000), -- major * 10 + minor
  sm_count           INTEGER NOT NULL CHECK (sm_count BETWEEN 0 AND 1000000),
  UNIQUE (name, compute_capability, sm_count)
) STRICT;
INSERT INTO device VALUES(1,'host',80,4);
CREATE TABLE environment (
  id             INTEGER PRIMARY KEY,
  device_id      INTEGER NOT NULL REFERENCES device (id),
  memory_bytes   INTEGER NOT NULL CHECK (memory_bytes BETWEEN 0 AND 1125899906842624),
  power_limit    INTEGER NOT NULL CHECK (power_limit BETWEEN 0 AND 1000000),  -- watts; 0: unknown
  driver_version INTEGER NOT NULL CHECK (driver_version BETWEEN 0 AND 10000000), -- 13000 is 13.0; 0: emulation
  nvrtc_version  INTEGER NOT NULL CHECK (nvrtc_version BETWEEN 0 AND 10000000),  -- 13000 is 13.0; 0: other compiler
  UNIQUE (device_id, memory_bytes, power_limit, driver_version, nvrtc_version)
) STRICT;
INSERT INTO environment VALUES(1,1,25276510208,0,0,0);
INSERT INTO environment VALUES(2,1,25276502016,0,0,0);
CREATE TABLE problem (
  id        INTEGER PRIMARY KEY,
  m         INTEGER NOT NULL CHECK (m >= 0),
  n         INTEGER NOT NULL CHECK (n >= 0),
  k         INTEGER NOT NULL CHECK (k >= 0),
  batch     INTEGER NOT NULL CHECK (batch >= 0),
  type_a    INTEGER NOT NULL REFERENCES element_type (value),
  type_b    INTEGER NOT NULL REFERENCES element_type (value),
  type_c    INTEGER NOT NULL REFERENCES element_type (value),
  op_a      INTEGER NOT NULL CHECK (op_a IN (0, 1)), -- 1: transposed
  op_b      INTEGER NOT NULL CHECK (op_b IN (0, 1)),
  lda       INTEGER NOT NULL CHECK (lda >= 0), -- leading dimensions and strides count elements
  ldb       INTEGER NOT NULL CHECK (ldb >= 0),
  ldc       INTEGER NOT NULL CHECK (ldc >= 0),
  stride_a  INTEGER NOT NULL CHECK (stride_a >= 0), -- between matrices of a batch; 0 where batch is 1
  stride_b  INTEGER NOT NULL CHECK (stride_b >= 0),
  stride_c  INTEGER NOT NULL CHECK (stride_c >= 0),
  alignment INTEGER NOT NULL CHECK (alignment BETWEEN 1 AND 1048576 AND alignment & (alignment - 1) = 0), -- bytes that every pointer is a multiple of
  reads_c   INTEGER NOT NULL CHECK (reads_c IN (0, 1)), -- 1: beta may differ from 0
  bias       INTEGER NOT NULL REFERENCES bias_axis (value), -- along C's columns or rows
  activation INTEGER NOT NULL REFERENCES activation (value),
  residual   INTEGER NOT NULL CHECK (residual IN (0, 1)),
  epilogue   INTEGER NOT NULL REFERENCES epilogue (value), -- what the three amount to
  type_bias  INTEGER NOT NULL REFERENCES element_type (value), -- f32 where there is no bias
  ldr        INTEGER NOT NULL CHECK (ldr >= 0), -- of the residual; 0 where there is none
  stride_r   INTEGER NOT NULL CHECK (stride_r >= 0),
  CHECK (lda >= iif(op_a, m, k) AND ldb >= iif(op_b, k, n) AND ldc >= n),
  CHECK (batch > 1 OR (stride_a = 0 AND stride_b = 0 AND stride_c = 0 AND stride_r = 0)),
  CHECK (residual = 0 AND ldr = 0 AND stride_r = 0 OR residual = 1 AND ldr >= n),
  CHECK (bias <> 0 OR type_bias = 0)
) STRICT;
INSERT INTO problem VALUES(1,16,16,16,1,0,0,0,0,0,16,16,16,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(2,1,64,32,1,0,0,0,0,1,32,32,64,0,0,0,16,0,0,0,0,0,0,0,0);
CREATE TABLE config (
  id           INTEGER PRIMARY KEY,
  family       INTEGER NOT NULL REFERENCES family (value),
  block_m      INTEGER NOT NULL CHECK (block_m BETWEEN 0 AND 32768),
  block_n      INTEGER NOT NULL CHECK (block_n BETWEEN 0 AND 32768),
  block_k      INTEGER NOT NULL CHECK (block_k BETWEEN 0 AND 32768),
  thread_m     INTEGER NOT NULL CHECK (thread_m BETWEEN 0 AND 32768),
  thread_n     INTEGER NOT NULL CHECK (thread_n BETWEEN 0 AND 32768),
  stages       INTEGER NOT NULL CHECK (stages BETWEEN 0 AND 32768),
  async_copy   INTEGER NOT NULL CHECK (async_copy BETWEEN 0 AND 32768),
  vector_width INTEGER NOT NULL CHECK (vector_width BETWEEN 0 AND 32768),
  boundary     INTEGER NOT NULL REFERENCES boundary (value),
  split_k      INTEGER NOT NULL CHECK (split_k BETWEEN 0 AND 32768),
  raster       INTEGER NOT NULL CHECK (raster BETWEEN 0 AND 32768),
  min_blocks   INTEGER NOT NULL CHECK (min_blocks BETWEEN 0 AND 32768),
  swap_ab      INTEGER NOT NULL CHECK (swap_ab BETWEEN 0 AND 32768),
  pack_ab      INTEGER NOT NULL CHECK (pack_ab BETWEEN 0 AND 32768),
  cluster      INTEGER NOT NULL CHECK (cluster BETWEEN 0 AND 32768),
  along_k      INTEGER NOT NULL CHECK (along_k BETWEEN 0 AND 32768),
  trim         INTEGER NOT NULL CHECK (trim BETWEEN 0 AND 32768),
  warps_m      INTEGER NOT NULL DEFAULT 1 CHECK (warps_m BETWEEN 0 AND 32768),
  warps_n      INTEGER NOT NULL DEFAULT 1 CHECK (warps_n BETWEEN 0 AND 32768),
  multicast_a  INTEGER NOT NULL DEFAULT 1 CHECK (multicast_a BETWEEN 0 AND 32768),
  multicast_b  INTEGER NOT NULL DEFAULT 1 CHECK (multicast_b BETWEEN 0 AND 32768),
  planes       INTEGER NOT NULL DEFAULT 1 CHECK (planes BETWEEN 0 AND 32768),
  promote_k    INTEGER NOT NULL DEFAULT 0 CHECK (promote_k BETWEEN 0 AND 32768),
  ping_pong    INTEGER NOT NULL DEFAULT 0 CHECK (ping_pong BETWEEN 0 AND 32768),
  overlap      INTEGER NOT NULL DEFAULT 0 CHECK (overlap BETWEEN 0 AND 32768),
  fma_order    INTEGER NOT NULL DEFAULT 0 CHECK (fma_order BETWEEN 0 AND 32768),
  stream_k     INTEGER NOT NULL DEFAULT 0 CHECK (stream_k BETWEEN 0 AND 32768),
  slice_k      INTEGER NOT NULL DEFAULT 1 CHECK (slice_k BETWEEN 0 AND 32768)
) STRICT;
INSERT INTO config VALUES(1,0,8,32,1,1,1,1,0,1,1,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(2,3,4,1,512,1,1,4,0,4,2,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(3,3,4,1,1024,1,1,4,0,4,2,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(4,3,4,1,2048,1,1,4,0,4,2,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(5,3,4,4,128,1,1,4,0,4,2,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(6,3,4,4,256,1,1,4,0,4,2,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(7,3,4,4,512,1,1,4,0,4,2,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(8,3,4,8,64,1,1,4,0,4,2,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(9,3,4,8,128,1,1,4,0,4,2,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(10,1,32,32,32,1,1,1,0,1,1,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(11,1,16,16,16,1,1,1,0,1,0,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(12,1,8,8,8,1,1,1,0,1,0,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(13,3,1,1,512,1,1,4,0,4,2,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(14,3,1,1,2048,1,1,4,0,4,2,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(15,3,1,1,1024,1,1,4,0,4,2,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(16,3,1,4,256,1,1,4,0,4,2,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(17,3,1,4,128,1,1,4,0,4,2,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(18,3,1,4,512,1,1,4,0,4,2,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(19,3,1,8,128,1,1,4,0,4,2,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(20,3,1,8,256,1,1,4,0,4,2,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(21,2,64,16,16,4,2,3,1,4,2,1,0,8,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(22,2,64,16,16,8,2,3,1,4,2,1,0,8,0,0,1,1,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(23,1,16,16,16,1,1,1,0,1,1,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(24,2,128,16,16,8,4,3,1,4,2,1,0,4,0,0,1,1,0,1,1,1,1,1,0,0,0,0,0,1);
CREATE TABLE policy (
  id      INTEGER PRIMARY KEY,
  cold_l2 INTEGER NOT NULL CHECK (cold_l2 IN (0, 1)), -- 1: operands rotate past the L2 cache between launches
  graph   INTEGER NOT NULL CHECK (graph IN (0, 1)),   -- 1: launches replayed from a graph, 0: one by one
  data    TEXT    NOT NULL CHECK (length(data) BETWEEN 1 AND 100), -- distribution of the operands' values
  UNIQUE (cold_l2, graph, data)
) STRICT;
INSERT INTO policy VALUES(1,1,1,'normal');
CREATE TABLE measurement (
  id              INTEGER PRIMARY KEY,
  environment_id  INTEGER NOT NULL REFERENCES environment (id),
  problem_id      INTEGER NOT NULL REFERENCES problem (id),
  config_id       INTEGER NOT NULL REFERENCES config (id),
  policy_id       INTEGER NOT NULL REFERENCES policy (id),
  kernel_name     TEXT    NOT NULL CHECK (length(kernel_name) <= 2000), -- of every step of the plan, joined by '+'
  kernel_hash     TEXT    NOT NULL CHECK (length(kernel_hash) <= 500),  -- hash of every step's source, joined by '+'
  outcome         INTEGER NOT NULL REFERENCES outcome (value),
  detail          TEXT    NOT NULL CHECK (length(detail) <= 2000), -- why, where the outcome is not ok
  median_us       REAL CHECK (median_us BETWEEN 1e-6 AND 1e12), -- microseconds of device time a call; NULL where it was not timed
  low_us          REAL CHECK (low_us BETWEEN 1e-6 AND 1e12),    -- 10th percentile
  high_us         REAL CHECK (high_us BETWEEN 1e-6 AND 1e12),   -- 90th percentile
  samples         INTEGER NOT NULL CHECK (samples BETWEEN 0 AND 1000000000),
  error_ratio     REAL CHECK (error_ratio >= 0), -- worst error over the bound; NULL where it was not checked
  registers       INTEGER CHECK (registers BETWEEN 0 AND 1000000),   -- a thread; NULL: unknown
  spill_bytes     INTEGER CHECK (spill_bytes BETWEEN 0 AND 1000000000), -- a thread; NULL: unknown
  shared_bytes    INTEGER NOT NULL CHECK (shared_bytes BETWEEN 0 AND 1073741824), -- a block
  workspace_bytes INTEGER NOT NULL CHECK (workspace_bytes BETWEEN 0 AND 1125899906842624),
  sm_clock_mhz    INTEGER NOT NULL CHECK (sm_clock_mhz BETWEEN 0 AND 1000000), -- 0: unknown
  throttled       INTEGER NOT NULL CHECK (throttled IN (0, 1)),
  measured_at     INTEGER NOT NULL CHECK (measured_at BETWEEN -62135596800 AND 253402300799), -- seconds since 1970, for people and merging
  CHECK (low_us <= median_us),
  CHECK (median_us <= high_us),
  CHECK (low_us <= high_us)
) STRICT;
INSERT INTO measurement VALUES(1,1,1,1,1,'tmm_naive_f32_nn_8x32x1_guarded','c79e29a50579226f',0,'',11.606999999999999317,11.590999999999999303,11.606999999999999317,3,0.10425496852216092902,NULL,NULL,0,0,0,0,1795303321);
INSERT INTO measurement VALUES(2,1,1,2,1,'tmm_gemv_f32_nn_a16b16c16_4x1x512_s4_v4_peeled','026400eb2781aace',0,'',734.19799999999997906,734.19799999999997906,734.19799999999997906,1,0.0091001822854183470057,NULL,NULL,2048,0,0,0,1795303321);
INSERT INTO measurement VALUES(3,1,1,3,1,'tmm_gemv_f32_nn_a16b16c16_4x1x1024_s4_v4_peeled','f6b2e9e931cae9fd',0,'',5731.0709999999999127,5731.0709999999999127,5731.0709999999999127,1,0.0047375480811728482369,NULL,NULL,4096,0,0,0,1795303321);
INSERT INTO measurement VALUES(4,1,1,4,1,'tmm_gemv_f32_nn_a16b16c16_4x1x2048_s4_v4_peeled','38cf1b6e159c79e0',0,'',7183.1120000000000798,7183.1120000000000798,7183.1120000000000798,1,0.0024185952919180695244,NULL,NULL,8192,0,0,0,1795303321);
INSERT INTO measurement VALUES(5,1,1,5,1,'tmm_gemv_f32_nn_a16b16c16_4x4x128_s4_v4_peeled','018ea65ffaf591f2',0,'',190.77199999999999136,190.77199999999999136,190.77199999999999136,1,0.029416868317980238156,NULL,NULL,2048,0,0,0,1795303321);
INSERT INTO measurement VALUES(6,1,1,6,1,'tmm_gemv_f32_nn_a16b16c16_4x4x256_s4_v4_peeled','1540034b02d471ba',0,'',365.66199999999997771,365.66199999999997771,365.66199999999997771,1,0.016865671168975335941,NULL,NULL,4096,0,0,0,1795303321);
INSERT INTO measurement VALUES(7,1,1,7,1,'tmm_gemv_f32_nn_a16b16c16_4x4x512_s4_v4_peeled','ad4ef48fba73b04a',0,'',766.88599999999996726,766.88599999999996726,766.88599999999996726,1,0.0091001822854183470057,NULL,NULL,8192,0,0,0,1795303321);
INSERT INTO measurement VALUES(8,1,1,8,1,'tmm_gemv_f32_nn_a16b16c16_4x8x64_s4_v4_peeled','46d4cedbd1e4646e',0,'',94.801000000000001932,94.801000000000001932,94.801000000000001932,1,0.046849086580487045439,NULL,NULL,2048,0,0,0,1795303321);
INSERT INTO measurement VALUES(9,1,1,9,1,'tmm_gemv_f32_nn_a16b16c16_4x8x128_s4_v4_peeled','87c0fb7deb0a80e3',0,'',285.96399999999999864,285.96399999999999864,285.96399999999999864,1,0.029416868317980238156,NULL,NULL,4096,0,0,0,1795303321);
INSERT INTO measurement VALUES(10,1,1,10,1,'tmm_tiled_f32_nn_32x32x32_guarded','cb07c5253cd5e159',0,'',255.32900000000000773,255.32900000000000773,255.32900000000000773,1,0.10425496852216092902,NULL,NULL,8192,0,0,0,1795303321);
INSERT INTO measurement VALUES(11,1,1,11,1,'tmm_tiled_f32_nn_16x16x16_exact','b8fdc898415468bc',0,'',32.40800000000000125,32.199199999999997602,33.601599999999997691,3,0.10425496852216092902,NULL,NULL,2048,0,0,0,1795303321);
INSERT INTO measurement VALUES(12,1,1,12,1,'tmm_tiled_f32_nn_8x8x8_exact','017c3ed9ee5fca88',0,'',56.404000000000003465,56.404000000000003465,56.404000000000003465,1,0.10425496852216092902,NULL,NULL,512,0,0,0,1795303321);
INSERT INTO measurement VALUES(13,1,2,1,1,'tmm_naive_f32_nt_8x32x1_guarded','9c56943a6e02d53e',0,'',15.564000000000000056,15.419200000000000017,15.611200000000000187,3,0.032259080327086110673,NULL,NULL,0,0,0,0,1795303321);
INSERT INTO measurement VALUES(14,1,2,13,1,'tmm_gemv_f32_nt_a16b16c16_1x1x512_s4_v4_peeled','360d654d0f11d82c',0,'',9178.7790000000004514,9178.7790000000004514,9178.7790000000004514,1,0.005992519322623328197,NULL,NULL,16,0,0,0,1795303322);
INSERT INTO measurement VALUES(15,1,2,14,1,'tmm_gemv_f32_nt_a16b16c16_1x1x2048_s4_v4_peeled','b59ba42050cbf224',0,'',21028.745999999999185,21028.745999999999185,21028.745999999999185,1,0.0015926580991293358673,NULL,NULL,64,0,0,0,1795303322);
INSERT INTO measurement VALUES(16,1,2,15,1,'tmm_gemv_f32_nt_a16b16c16_1x1x1024_s4_v4_peeled','1f6b0f1b6209ad18',0,'',22242.494999999998981,22242.494999999998981,22242.494999999998981,1,0.0031197010705791860564,NULL,NULL,32,0,0,0,1795303322);
INSERT INTO measurement VALUES(17,1,2,16,1,'tmm_gemv_f32_nt_a16b16c16_1x4x256_s4_v4_peeled','d503f52e518e6811',0,'',6598.4260000000003855,6598.4260000000003855,6598.4260000000003855,1,0.011106135811261901025,NULL,NULL,32,0,0,0,1795303322);
INSERT INTO measurement VALUES(18,1,2,17,1,'tmm_gemv_f32_nt_a16b16c16_1x4x128_s4_v4_peeled','02acced27971b717',0,'',1207.7499999999999999,1207.7499999999999999,1207.7499999999999999,1,0.019371167112666107246,NULL,NULL,16,0,0,0,1795303322);
INSERT INTO measurement VALUES(19,1,2,18,1,'tmm_gemv_f32_nt_a16b16c16_1x4x512_s4_v4_peeled','e66bf1537e0b686f',0,'',5334.0129999999999197,5334.0129999999999197,5334.0129999999999197,1,0.005992519322623328197,NULL,NULL,64,0,0,0,1795303322);
INSERT INTO measurement VALUES(20,1,2,19,1,'tmm_gemv_f32_nt_a16b16c16_1x8x128_s4_v4_peeled','64e6cde7f1f69850',0,'',1151.9970000000000709,1151.9970000000000709,1151.9970000000000709,1,0.019371167112666107246,NULL,NULL,32,0,0,0,1795303322);
INSERT INTO measurement VALUES(21,1,2,10,1,'tmm_tiled_f32_nt_32x32x32_guarded','763318ead37bb0d1',0,'',4844.337999999999738,4844.337999999999738,4844.337999999999738,1,0.032259080327086110673,NULL,NULL,8192,0,0,0,1795303322);
INSERT INTO measurement VALUES(22,1,2,20,1,'tmm_gemv_f32_nt_a16b16c16_1x8x256_s4_v4_peeled','ba4d5541a3ce3dfc',0,'',1899.5139999999998962,1899.5139999999998962,1899.5139999999998962,1,0.011106135811261901025,NULL,NULL,64,0,0,0,1795303322);
INSERT INTO measurement VALUES(23,1,2,21,1,'tmm_simt_f32_nt_a16b16c16_64x16x16_t4x2_s3_async_v4_peeled_o8','f013b7fceb18b12d',0,'',4419.5780000000004293,4419.5780000000004293,4419.5780000000004293,1,0.032259080327086110673,NULL,NULL,16896,0,0,0,1795303323);
INSERT INTO measurement VALUES(24,1,2,22,1,'tmm_simt_f32_nt_a16b16c16_64x16x16_t8x2_s3_async_v4_peeled_along_o8','10871edb1c80f901',0,'',176.10099999999999909,176.10099999999999909,176.10099999999999909,1,0.032259080327086110673,NULL,NULL,19200,0,0,0,1795303323);
INSERT INTO measurement VALUES(25,1,2,23,1,'tmm_tiled_f32_nt_16x16x16_guarded','140ff3a98a4d57da',0,'',197.42199999999999704,197.42199999999999704,197.42199999999999704,1,0.032259080327086110673,NULL,NULL,2048,0,0,0,1795303323);
INSERT INTO measurement VALUES(26,1,2,24,1,'tmm_simt_f32_nt_a16b16c16_128x16x16_t8x4_s3_async_v4_peeled_along_o4','e13d551ef4e13117',0,'',602.54300000000000636,602.54300000000000636,602.54300000000000636,1,0.032259080327086110673,NULL,NULL,34560,0,0,0,1795303323);
CREATE TABLE selection (
  id             INTEGER PRIMARY KEY,
  environment_id INTEGER NOT NULL REFERENCES environment (id),
  problem_id     INTEGER NOT NULL REFERENCES problem (id),
  compute        INTEGER NOT NULL REFERENCES compute_mode (value),
  policy_id      INTEGER NOT NULL REFERENCES policy (id),
  config_id      INTEGER NOT NULL REFERENCES config (id), -- the winner
  median_us      REAL CHECK (median_us BETWEEN 1e-6 AND 1e12), -- its median in the run-off; NULL where it was predicted
  candidates     INTEGER NOT NULL CHECK (candidates BETWEEN 0 AND 1000000000), -- how many it was chosen from
  reason         TEXT    NOT NULL CHECK (length(reason) <= 2000), -- the round and what decided it, in words
  search_hash    TEXT    NOT NULL CHECK (length(search_hash) <= 500), -- names the set of candidates
  origin         TEXT    NOT NULL CHECK (origin IN ('user', 'shipped', 'raced')), -- raced: within a program, against the library that it called
  decided_at     INTEGER NOT NULL CHECK (decided_at BETWEEN -62135596800 AND 253402300799), -- seconds since 1970, for people and merging
  default_us     REAL CHECK (default_us BETWEEN 1e-6 AND 1e12), -- the default config's median in the same run-off; NULL: it was not in it
  runner_up_config_id INTEGER REFERENCES config (id),     -- the best of the others there; NULL: there was none, or the library was it
  runner_up_us   REAL CHECK (runner_up_us BETWEEN 1e-6 AND 1e12), -- its median there
  predicted      INTEGER NOT NULL DEFAULT 0 CHECK (predicted IN (0, 1)) -- 1: nothing was measured, the config is a guess by the model
) STRICT;
INSERT INTO selection VALUES(1,1,1,0,1,1,11.606999999999999317,12,'the only candidate that came near; 12 candidates measured, 0 rejected','quick:816e36dbe8d83e82','user',1795303321,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(2,1,2,0,1,1,15.564000000000000056,14,'the only candidate that came near; 14 candidates measured, 0 rejected','quick:a202d23f3d1cf847','user',1795303323,NULL,NULL,NULL,0);
CREATE TABLE in_flight (
  device_id    INTEGER NOT NULL REFERENCES device (id),
  problem_id   INTEGER NOT NULL REFERENCES problem (id),
  config_id    INTEGER NOT NULL REFERENCES config (id),
  compute      INTEGER NOT NULL REFERENCES compute_mode (value),
  kernel_name  TEXT    NOT NULL CHECK (length(kernel_name) <= 2000),
  attempts     INTEGER NOT NULL CHECK (attempts BETWEEN 1 AND 1000000), -- announcements without a result
  boot_id      TEXT    NOT NULL CHECK (length(boot_id) <= 100), -- "BOOT_ID HOST": another id of this host now says that it went down since
  process      INTEGER NOT NULL CHECK (process >= 0),           -- who announced it last: process number
  started      INTEGER NOT NULL CHECK (started >= 0),           -- … and its start, in clock ticks since the machine's
  announced_at INTEGER NOT NULL CHECK (announced_at BETWEEN -62135596800 AND 253402300799), -- seconds since 1970, for people
  PRIMARY KEY (device_id, problem_id, config_id)
) STRICT;
CREATE TABLE machine_rates (
  id             INTEGER PRIMARY KEY,
  environment_id INTEGER NOT NULL REFERENCES environment (id),
  read_bytes     REAL NOT NULL CHECK (read_bytes BETWEEN 1e2 AND 1e9), -- bytes a microsecond that all SMs read of memory
  fmas           REAL NOT NULL CHECK (fmas BETWEEN 1 AND 1e10),        -- multiply-adds in float a microsecond, of all SMs
  fmas_of_one_sm REAL NOT NULL CHECK (fmas_of_one_sm BETWEEN 1 AND 1e7), -- … of one SM while the others have nothing to do
  mma_16         REAL CHECK (mma_16 BETWEEN 1 AND 1e11),   -- … of all SMs by mma.sync with 16-bit operands; NULL: it has none
  mma_clock      REAL CHECK (mma_clock BETWEEN 1 AND 1e5), -- the SMs' clock in MHz meanwhile; NULL: unknown
  launch_gap     REAL NOT NULL CHECK (launch_gap BETWEEN 1e-3 AND 1e4), -- microseconds from one empty kernel to the next
  measured_at    INTEGER NOT NULL CHECK (measured_at BETWEEN -62135596800 AND 253402300799) -- seconds since 1970, for people
) STRICT;
CREATE UNIQUE INDEX problem_identity ON problem (
  m, n, k, batch, type_a, type_b, type_c, op_a, op_b, lda, ldb, ldc, stride_a, stride_b, stride_c, alignment, reads_c, bias,
  activation, residual, epilogue, type_bias, ldr, stride_r);
CREATE UNIQUE INDEX config_identity ON config (
  family, block_m, block_n, block_k, thread_m, thread_n, stages, async_copy, vector_width, boundary, split_k, raster,
  min_blocks, swap_ab, pack_ab, cluster, along_k, trim, warps_m, warps_n, multicast_a, multicast_b, planes,
  promote_k, ping_pong, overlap, fma_order, stream_k, slice_k);
CREATE INDEX measurement_by_problem ON measurement (problem_id, policy_id, config_id);
CREATE INDEX selection_by_problem ON selection (problem_id, compute);
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
JOIN element_type AS t ON t.value = p.type_bias
;
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
CREATE VIEW current_selection AS
SELECT id, environment_id, device_id, problem_id, compute, policy_id, config_id, median_us, candidates, reason, search_hash, origin, decided_at,
       default_us, runner_up_config_id, runner_up_us, predicted
FROM (SELECT s.*, e.device_id,
             row_number() OVER (PARTITION BY e.device_id, s.problem_id, s.compute, s.policy_id
                                ORDER BY s.predicted, s.origin = 'user' DESC, s.origin = 'shipped' DESC, s.id DESC) AS place
      FROM selection AS s JOIN environment AS e ON e.id = s.environment_id)
WHERE place = 1;
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
COMMIT;
