PRAGMA application_id = 1953328484;
PRAGMA user_version = 1;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE element_type (value INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO element_type VALUES(0,'f32');
INSERT INTO element_type VALUES(1,'f16');
INSERT INTO element_type VALUES(2,'bf16');
INSERT INTO element_type VALUES(3,'f64');
CREATE TABLE compute_mode (value INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO compute_mode VALUES(0,'f32');
INSERT INTO compute_mode VALUES(1,'f32_strict');
INSERT INTO compute_mode VALUES(2,'tf32');
INSERT INTO compute_mode VALUES(3,'f64');
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
CREATE TABLE boundary (value INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO boundary VALUES(0,'exact');
INSERT INTO boundary VALUES(1,'guarded');
INSERT INTO boundary VALUES(2,'peeled');
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
  memory_bytes   INTEGER NOT NULL CHECK (memory_bytes >= 0),
  power_limit    INTEGER NOT NULL CHECK (power_limit BETWEEN 0 AND 1000000),  -- watts; 0: unknown
  driver_version INTEGER NOT NULL CHECK (driver_version BETWEEN 0 AND 10000000), -- 13000 is 13.0; 0: emulation
  nvrtc_version  INTEGER NOT NULL CHECK (nvrtc_version BETWEEN 0 AND 10000000),  -- 13000 is 13.0; 0: other compiler
  UNIQUE (device_id, memory_bytes, power_limit, driver_version, nvrtc_version)
) STRICT;
INSERT INTO environment VALUES(1,1,25276510208,0,0,0);
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
  alignment INTEGER NOT NULL CHECK (alignment BETWEEN 1 AND 1048576), -- bytes that every pointer is a multiple of
  reads_c   INTEGER NOT NULL CHECK (reads_c IN (0, 1)), -- 1: beta may differ from 0
  epilogue  INTEGER NOT NULL REFERENCES epilogue (value)
) STRICT;
INSERT INTO problem VALUES(1,16,16,16,1,0,0,0,0,0,16,16,16,0,0,0,16,0,0);
INSERT INTO problem VALUES(2,1,64,32,1,0,0,0,0,1,32,32,64,0,0,0,16,0,0);
CREATE TABLE config (
  id           INTEGER PRIMARY KEY,
  family       INTEGER NOT NULL REFERENCES family (value),
  block_m      INTEGER NOT NULL CHECK (block_m BETWEEN 0 AND 1048576),
  block_n      INTEGER NOT NULL CHECK (block_n BETWEEN 0 AND 1048576),
  block_k      INTEGER NOT NULL CHECK (block_k BETWEEN 0 AND 1048576),
  thread_m     INTEGER NOT NULL CHECK (thread_m BETWEEN 0 AND 1048576),
  thread_n     INTEGER NOT NULL CHECK (thread_n BETWEEN 0 AND 1048576),
  stages       INTEGER NOT NULL CHECK (stages BETWEEN 0 AND 1048576),
  async_copy   INTEGER NOT NULL CHECK (async_copy BETWEEN 0 AND 1048576),
  vector_width INTEGER NOT NULL CHECK (vector_width BETWEEN 0 AND 1048576),
  boundary     INTEGER NOT NULL REFERENCES boundary (value),
  split_k      INTEGER NOT NULL CHECK (split_k BETWEEN 0 AND 1048576),
  raster       INTEGER NOT NULL CHECK (raster BETWEEN 0 AND 1048576),
  min_blocks   INTEGER NOT NULL CHECK (min_blocks BETWEEN 0 AND 1048576),
  swap_ab      INTEGER NOT NULL CHECK (swap_ab BETWEEN 0 AND 1048576),
  pack_ab      INTEGER NOT NULL CHECK (pack_ab BETWEEN 0 AND 1048576),
  cluster      INTEGER NOT NULL CHECK (cluster BETWEEN 0 AND 1048576),
  along_k      INTEGER NOT NULL CHECK (along_k BETWEEN 0 AND 1048576),
  trim         INTEGER NOT NULL CHECK (trim BETWEEN 0 AND 1048576)
) STRICT;
INSERT INTO config VALUES(1,0,8,32,1,1,1,1,0,1,1,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(2,3,4,1,512,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(3,3,4,1,2048,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(4,3,4,1,1024,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(5,3,4,4,128,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(6,3,4,4,256,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(7,3,4,4,512,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(8,3,4,8,64,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(9,3,4,8,128,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(10,3,4,8,256,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(11,3,4,16,64,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(12,3,4,16,32,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(13,3,4,16,128,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(14,3,4,32,32,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(15,3,4,32,64,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(16,3,1,1,512,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(17,3,1,1,1024,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(18,3,1,1,2048,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(19,3,1,4,128,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(20,3,1,4,256,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(21,3,1,4,512,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(22,3,1,8,128,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(23,3,1,8,256,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(24,3,1,16,128,1,1,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(25,3,1,2,512,1,2,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(26,3,1,2,1024,1,2,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(27,3,1,2,2048,1,2,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(28,3,1,8,128,1,2,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(29,3,1,8,256,1,2,2,0,4,2,1,0,1,0,0,1,0,0);
INSERT INTO config VALUES(30,3,1,8,512,1,2,2,0,4,2,1,0,1,0,0,1,0,0);
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
  median_us       REAL CHECK (median_us > 0), -- microseconds of device time a call; NULL where it was not timed
  low_us          REAL CHECK (low_us > 0),    -- 10th percentile
  high_us         REAL CHECK (high_us > 0),   -- 90th percentile
  samples         INTEGER NOT NULL CHECK (samples BETWEEN 0 AND 1000000000),
  error_ratio     REAL CHECK (error_ratio >= 0), -- worst error over the bound; NULL where it was not checked
  registers       INTEGER CHECK (registers BETWEEN 0 AND 1000000),   -- a thread; NULL: unknown
  spill_bytes     INTEGER CHECK (spill_bytes BETWEEN 0 AND 1000000000), -- a thread; NULL: unknown
  shared_bytes    INTEGER NOT NULL CHECK (shared_bytes >= 0),        -- a block
  workspace_bytes INTEGER NOT NULL CHECK (workspace_bytes >= 0),
  sm_clock_mhz    INTEGER NOT NULL CHECK (sm_clock_mhz BETWEEN 0 AND 1000000), -- 0: unknown
  throttled       INTEGER NOT NULL CHECK (throttled IN (0, 1)),
  measured_at     INTEGER NOT NULL -- seconds since 1970
) STRICT;
INSERT INTO measurement VALUES(1,1,1,1,1,'tmm_naive_f32_nn_8x32x1_guarded','54635a028f777f09',0,'',10.916999999999999815,10.900199999999999889,10.924200000000000798,3,0.10425496852216092902,NULL,NULL,0,0,0,0,1795290569);
INSERT INTO measurement VALUES(2,1,1,2,1,'tmm_gemv_f32_nn_a16b16c16_4x1x512_s2_v4_peeled','77402956301c446e',0,'',12860.34399999999914,12860.34399999999914,12860.34399999999914,1,0.0091001822854183470057,NULL,NULL,2048,0,0,0,1795290569);
INSERT INTO measurement VALUES(3,1,1,3,1,'tmm_gemv_f32_nn_a16b16c16_4x1x2048_s2_v4_peeled','39bcd06e255ea4a9',0,'',3268.492999999999938,3268.492999999999938,3268.492999999999938,1,0.0024185952919180695244,NULL,NULL,8192,0,0,0,1795290569);
INSERT INTO measurement VALUES(4,1,1,4,1,'tmm_gemv_f32_nn_a16b16c16_4x1x1024_s2_v4_peeled','546e7ade099a7dcb',0,'',1435.8679999999999381,1435.8679999999999381,1435.8679999999999381,1,0.0047375480811728482369,NULL,NULL,4096,0,0,0,1795290569);
INSERT INTO measurement VALUES(5,1,1,5,1,'tmm_gemv_f32_nn_a16b16c16_4x4x128_s2_v4_peeled','727816a5c1150461',0,'',183.51200000000000045,183.51200000000000045,183.51200000000000045,1,0.029416868317980238156,NULL,NULL,2048,0,0,0,1795290569);
INSERT INTO measurement VALUES(6,1,1,6,1,'tmm_gemv_f32_nn_a16b16c16_4x4x256_s2_v4_peeled','4b7e642734d2beb1',0,'',360.23399999999998043,360.23399999999998043,360.23399999999998043,1,0.016865671168975335941,NULL,NULL,4096,0,0,0,1795290569);
INSERT INTO measurement VALUES(7,1,1,7,1,'tmm_gemv_f32_nn_a16b16c16_4x4x512_s2_v4_peeled','05dfe87ceaabd62b',0,'',749.60099999999999908,749.60099999999999908,749.60099999999999908,1,0.0091001822854183470057,NULL,NULL,8192,0,0,0,1795290570);
INSERT INTO measurement VALUES(8,1,1,8,1,'tmm_gemv_f32_nn_a16b16c16_4x8x64_s2_v4_peeled','df0b65d4b8acec98',0,'',93.69899999999999807,93.69899999999999807,93.69899999999999807,1,0.046849086580487045439,NULL,NULL,2048,0,0,0,1795290570);
INSERT INTO measurement VALUES(9,1,1,9,1,'tmm_gemv_f32_nn_a16b16c16_4x8x128_s2_v4_peeled','2af2c11de8a21e69',0,'',181.8300000000000125,181.8300000000000125,181.8300000000000125,1,0.029416868317980238156,NULL,NULL,4096,0,0,0,1795290570);
INSERT INTO measurement VALUES(10,1,1,10,1,'tmm_gemv_f32_nn_a16b16c16_4x8x256_s2_v4_peeled','290b8315c6383c08',0,'',381.57499999999998862,381.57499999999998862,381.57499999999998862,1,0.016865671168975335941,NULL,NULL,8192,0,0,0,1795290570);
INSERT INTO measurement VALUES(11,1,1,11,1,'tmm_gemv_f32_nn_a16b16c16_4x16x64_s2_v4_peeled','0bd6d894aea82cf2',0,'',93.158000000000001248,93.158000000000001248,93.158000000000001248,1,0.046849086580487045439,NULL,NULL,4096,0,0,0,1795290570);
INSERT INTO measurement VALUES(12,1,1,12,1,'tmm_gemv_f32_nn_a16b16c16_4x16x32_s2_v4_peeled','cca3330f4cf091b3',0,'',48.942000000000000169,48.942000000000000169,48.942000000000000169,1,0.066575017772271066762,NULL,NULL,2048,0,0,0,1795290570);
INSERT INTO measurement VALUES(13,1,1,13,1,'tmm_gemv_f32_nn_a16b16c16_4x16x128_s2_v4_peeled','f7778ea67052b5c3',0,'',189.0900000000000034,189.0900000000000034,189.0900000000000034,1,0.029416868317980238156,NULL,NULL,8192,0,0,0,1795290570);
INSERT INTO measurement VALUES(14,1,1,14,1,'tmm_gemv_f32_nn_a16b16c16_4x32x32_s2_v4_peeled','f2f5e08dbf5cd96a',0,'',97.082999999999998411,97.082999999999998411,97.082999999999998411,1,0.066575017772271066762,NULL,NULL,4096,0,0,0,1795290571);
INSERT INTO measurement VALUES(15,1,1,15,1,'tmm_gemv_f32_nn_a16b16c16_4x32x64_s2_v4_peeled','c8466cf0ccb01abf',0,'',195.62000000000000454,195.62000000000000454,195.62000000000000454,1,0.046849086580487045439,NULL,NULL,8192,0,0,0,1795290571);
INSERT INTO measurement VALUES(16,1,2,1,1,'tmm_naive_f32_nt_8x32x1_guarded','cac35c17737f2345',0,'',7.7019999999999999573,7.6859999999999999431,7.7172000000000000596,3,0.032259080327086110673,NULL,NULL,0,0,0,0,1795290571);
INSERT INTO measurement VALUES(17,1,2,16,1,'tmm_gemv_f32_nt_a16b16c16_1x1x512_s2_v4_peeled','5d75bbd0a776ff99',0,'',7301.7190000000000509,7301.7190000000000509,7301.7190000000000509,1,0.005992519322623328197,NULL,NULL,16,0,0,0,1795290571);
INSERT INTO measurement VALUES(18,1,2,17,1,'tmm_gemv_f32_nt_a16b16c16_1x1x1024_s2_v4_peeled','a9be8d2a46253790',0,'',10389.083000000000538,10389.083000000000538,10389.083000000000538,1,0.0031197010705791860564,NULL,NULL,32,0,0,0,1795290571);
INSERT INTO measurement VALUES(19,1,2,18,1,'tmm_gemv_f32_nt_a16b16c16_1x1x2048_s2_v4_peeled','8a67f4dff49b02d6',0,'',29982.871999999999388,29982.871999999999388,29982.871999999999388,1,0.0015926580991293358673,NULL,NULL,64,0,0,0,1795290572);
INSERT INTO measurement VALUES(20,1,2,19,1,'tmm_gemv_f32_nt_a16b16c16_1x4x128_s2_v4_peeled','4e5e7546dc1a1dbe',0,'',787.59699999999998,787.59699999999998,787.59699999999998,1,0.019371167112666107246,NULL,NULL,16,0,0,0,1795290572);
INSERT INTO measurement VALUES(21,1,2,20,1,'tmm_gemv_f32_nt_a16b16c16_1x4x256_s2_v4_peeled','4f40e18249c96059',0,'',1588.4329999999999927,1588.4329999999999927,1588.4329999999999927,1,0.011106135811261901025,NULL,NULL,32,0,0,0,1795290572);
INSERT INTO measurement VALUES(22,1,2,21,1,'tmm_gemv_f32_nt_a16b16c16_1x4x512_s2_v4_peeled','90153977242e5210',0,'',11480.168999999999868,11480.168999999999868,11480.168999999999868,1,0.005992519322623328197,NULL,NULL,64,0,0,0,1795290572);
INSERT INTO measurement VALUES(23,1,2,22,1,'tmm_gemv_f32_nt_a16b16c16_1x8x128_s2_v4_peeled','646e6d79f7957f57',0,'',793.35500000000001817,793.35500000000001817,793.35500000000001817,1,0.019371167112666107246,NULL,NULL,32,0,0,0,1795290572);
INSERT INTO measurement VALUES(24,1,2,23,1,'tmm_gemv_f32_nt_a16b16c16_1x8x256_s2_v4_peeled','77496b8fe7566ef5',0,'',9995.1790000000000869,9995.1790000000000869,9995.1790000000000869,1,0.011106135811261901025,NULL,NULL,64,0,0,0,1795290572);
INSERT INTO measurement VALUES(25,1,2,24,1,'tmm_gemv_f32_nt_a16b16c16_1x16x128_s2_v4_peeled','9bc17f4b21ccb587',0,'',9149.4060000000008584,9149.4060000000008584,9149.4060000000008584,1,0.019371167112666107246,NULL,NULL,64,0,0,0,1795290572);
INSERT INTO measurement VALUES(26,1,2,25,1,'tmm_gemv_f32_nt_a16b16c16_1x2x512_t1x2_s2_v4_peeled','b9e96756e3ae4ed5',0,'',14811.273999999999433,14811.273999999999433,14811.273999999999433,1,0.005992519322623328197,NULL,NULL,32,0,0,0,1795290573);
INSERT INTO measurement VALUES(27,1,2,26,1,'tmm_gemv_f32_nt_a16b16c16_1x2x1024_t1x2_s2_v4_peeled','dc2e80c23748389a',0,'',17613.897000000000843,17613.897000000000843,17613.897000000000843,1,0.0031197010705791860564,NULL,NULL,64,0,0,0,1795290573);
INSERT INTO measurement VALUES(28,1,2,27,1,'tmm_gemv_f32_nt_a16b16c16_1x2x2048_t1x2_s2_v4_peeled','5ba047a9459d21c3',0,'',33907.086000000002969,33907.086000000002969,33907.086000000002969,1,0.0015926580991293358673,NULL,NULL,128,0,0,0,1795290573);
INSERT INTO measurement VALUES(29,1,2,28,1,'tmm_gemv_f32_nt_a16b16c16_1x8x128_t1x2_s2_v4_peeled','614f00379167d605',0,'',8840.4179999999996653,8840.4179999999996653,8840.4179999999996653,1,0.019371167112666107246,NULL,NULL,32,0,0,0,1795290573);
INSERT INTO measurement VALUES(30,1,2,29,1,'tmm_gemv_f32_nt_a16b16c16_1x8x256_t1x2_s2_v4_peeled','bf0892e437b19bb1',0,'',13542.7549999999992,13542.7549999999992,13542.7549999999992,1,0.011106135811261901025,NULL,NULL,64,0,0,0,1795290573);
INSERT INTO measurement VALUES(31,1,2,30,1,'tmm_gemv_f32_nt_a16b16c16_1x8x512_t1x2_s2_v4_peeled','d34b34561519b682',0,'',2846.6170000000001892,2846.6170000000001892,2846.6170000000001892,1,0.005992519322623328197,NULL,NULL,128,0,0,0,1795290573);
CREATE TABLE selection (
  id             INTEGER PRIMARY KEY,
  environment_id INTEGER NOT NULL REFERENCES environment (id),
  problem_id     INTEGER NOT NULL REFERENCES problem (id),
  compute        INTEGER NOT NULL REFERENCES compute_mode (value),
  policy_id      INTEGER NOT NULL REFERENCES policy (id),
  config_id      INTEGER NOT NULL REFERENCES config (id), -- the winner
  median_us      REAL CHECK (median_us > 0),              -- its median in the run-off
  candidates     INTEGER NOT NULL CHECK (candidates BETWEEN 0 AND 1000000000), -- how many it was chosen from
  reason         TEXT    NOT NULL CHECK (length(reason) <= 2000), -- the round and what decided it, in words
  search_hash    TEXT    NOT NULL CHECK (length(search_hash) <= 500), -- names the set of candidates
  origin         TEXT    NOT NULL CHECK (origin IN ('user', 'shipped')),
  decided_at     INTEGER NOT NULL -- seconds since 1970
) STRICT;
INSERT INTO selection VALUES(1,1,1,0,1,1,10.916999999999999815,15,'the only candidate that came near; 15 candidates measured, 0 rejected; the budget ended before 1 others','quick:905ecf08aba2505e:cut','user',1795290571);
INSERT INTO selection VALUES(2,1,2,0,1,1,7.7019999999999999573,16,'the only candidate that came near; 16 candidates measured, 0 rejected','quick:1815e44e987cba95','user',1795290573);
CREATE TABLE in_flight (
  device_id    INTEGER NOT NULL REFERENCES device (id),
  problem_id   INTEGER NOT NULL REFERENCES problem (id),
  config_id    INTEGER NOT NULL REFERENCES config (id),
  compute      INTEGER NOT NULL REFERENCES compute_mode (value),
  kernel_name  TEXT    NOT NULL CHECK (length(kernel_name) <= 2000),
  attempts     INTEGER NOT NULL CHECK (attempts BETWEEN 1 AND 1000000), -- announcements without a result
  boot_id      TEXT    NOT NULL CHECK (length(boot_id) <= 100), -- which start of the machine; another one now: it went down since
  process      INTEGER NOT NULL CHECK (process >= 0),           -- who announced it last: process number
  started      INTEGER NOT NULL CHECK (started >= 0),           -- … and its start, in clock ticks since the machine's
  announced_at INTEGER NOT NULL, -- seconds since 1970
  PRIMARY KEY (device_id, problem_id, config_id)
) STRICT;
CREATE UNIQUE INDEX problem_identity ON problem (
  m, n, k, batch, type_a, type_b, type_c, op_a, op_b, lda, ldb, ldc, stride_a, stride_b, stride_c, alignment, reads_c, epilogue);
CREATE UNIQUE INDEX config_identity ON config (
  family, block_m, block_n, block_k, thread_m, thread_n, stages, async_copy, vector_width, boundary, split_k, raster,
  min_blocks, swap_ab, pack_ab, cluster, along_k, trim);
CREATE INDEX measurement_by_problem ON measurement (problem_id, policy_id, config_id);
CREATE INDEX selection_by_problem ON selection (problem_id, compute);
CREATE VIEW problem_text AS
SELECT p.id AS problem_id,
       p.m || 'x' || p.n || 'x' || p.k
         || CASE WHEN p.type_a <> 0 THEN ' dtype=' || a.name ELSE '' END
         || CASE WHEN p.type_c <> p.type_a THEN ' ctype=' || c.name ELSE '' END AS head,
       CASE WHEN p.op_a <> 0 OR p.op_b <> 0 THEN ' ops=' || substr('nt', 1 + p.op_a, 1) || substr('nt', 1 + p.op_b, 1) ELSE '' END
         || CASE WHEN p.batch <> 1 THEN ' batch=' || p.batch ELSE '' END
         || CASE WHEN p.lda <> max(1, iif(p.op_a, p.m, p.k)) THEN ' lda=' || p.lda ELSE '' END
         || CASE WHEN p.ldb <> max(1, iif(p.op_b, p.k, p.n)) THEN ' ldb=' || p.ldb ELSE '' END
         || CASE WHEN p.ldc <> max(1, p.n) THEN ' ldc=' || p.ldc ELSE '' END
         || CASE WHEN p.alignment <> 16 THEN ' align=' || p.alignment ELSE '' END
         || CASE WHEN p.reads_c THEN ' beta=1' ELSE '' END AS tail,
       substr('nt', 1 + p.op_a, 1) || substr('nt', 1 + p.op_b, 1) AS ops,
       a.name AS type_a, b.name AS type_b, c.name AS type_c, e.name AS epilogue,
       iif(p.type_a = 3, 3, 0) AS default_compute,
       2e-6 * p.m * p.n * p.k * p.batch AS mflop -- over microseconds: TFLOP/s
FROM problem AS p
JOIN element_type AS a ON a.value = p.type_a
JOIN element_type AS b ON b.value = p.type_b
JOIN element_type AS c ON c.value = p.type_c
JOIN epilogue AS e ON e.value = p.epilogue
;
CREATE VIEW config_text AS
SELECT g.id AS config_id,
       'family=' || f.name
         || CASE WHEN g.block_m <> 1 THEN ',block_m=' || g.block_m ELSE '' END
         || CASE WHEN g.block_n <> 1 THEN ',block_n=' || g.block_n ELSE '' END
         || CASE WHEN g.block_k <> 1 THEN ',block_k=' || g.block_k ELSE '' END
         || CASE WHEN g.thread_m <> 1 THEN ',thread_m=' || g.thread_m ELSE '' END
         || CASE WHEN g.thread_n <> 1 THEN ',thread_n=' || g.thread_n ELSE '' END
         || CASE WHEN g.stages <> 1 THEN ',stages=' || g.stages ELSE '' END
         || CASE WHEN g.async_copy <> 0 THEN ',async_copy=' || g.async_copy ELSE '' END
         || CASE WHEN g.vector_width <> 1 THEN ',vector_width=' || g.vector_width ELSE '' END
         || CASE WHEN g.boundary <> 1 THEN ',boundary=' || b.name ELSE '' END
         || CASE WHEN g.split_k <> 1 THEN ',split_k=' || g.split_k ELSE '' END
         || CASE WHEN g.raster <> 0 THEN ',raster=' || g.raster ELSE '' END
         || CASE WHEN g.min_blocks <> 1 THEN ',min_blocks=' || g.min_blocks ELSE '' END
         || CASE WHEN g.swap_ab <> 0 THEN ',swap_ab=' || g.swap_ab ELSE '' END
         || CASE WHEN g.pack_ab <> 0 THEN ',pack_ab=' || g.pack_ab ELSE '' END
         || CASE WHEN g.cluster <> 1 THEN ',cluster=' || g.cluster ELSE '' END
         || CASE WHEN g.along_k <> 0 THEN ',along_k=' || g.along_k ELSE '' END
         || CASE WHEN g.trim <> 0 THEN ',trim=' || g.trim ELSE '' END AS config
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
SELECT id, environment_id, device_id, problem_id, compute, policy_id, config_id, median_us, candidates, reason, search_hash, origin, decided_at
FROM (SELECT s.*, e.device_id,
             row_number() OVER (PARTITION BY e.device_id, s.problem_id, s.compute, s.policy_id
                                ORDER BY s.origin = 'user' DESC, s.decided_at DESC, s.id DESC) AS place
      FROM selection AS s JOIN environment AS e ON e.id = s.environment_id)
WHERE place = 1;
CREATE VIEW winner AS
SELECT p.head || iif(s.compute <> p.default_compute, ' compute=' || c.name, '') || p.tail AS shape,
       d.name AS device, g.config, s.median_us, round(p.mflop / s.median_us, 6) AS tflops,
       (SELECT x.error_ratio FROM measurement AS x JOIN environment AS ex ON ex.id = x.environment_id
        WHERE x.problem_id = s.problem_id AND x.policy_id = s.policy_id AND x.config_id = s.config_id AND ex.device_id = s.device_id
        ORDER BY x.measured_at DESC, x.id DESC LIMIT 1) AS error_ratio,
       s.reason, s.origin, s.candidates, datetime(s.decided_at, 'unixepoch') AS decided_at,
       q.m, q.n, q.k, q.batch, p.ops, p.type_a, p.type_b, p.type_c, c.name AS compute, q.lda, q.ldb, q.ldc, q.alignment, q.reads_c,
       p.epilogue, d.compute_capability, d.sm_count,
       f.name AS family, h.block_m, h.block_n, h.block_k, h.thread_m, h.thread_n, h.stages, h.async_copy, h.vector_width,
       b.name AS boundary, h.split_k, h.raster, h.min_blocks, h.swap_ab, h.pack_ab, h.cluster, h.along_k, h.trim
FROM current_selection AS s
JOIN policy AS l ON l.id = s.policy_id AND l.cold_l2 = 1 AND l.graph = 1 AND l.data = 'normal'
JOIN device AS d ON d.id = s.device_id
JOIN problem AS q ON q.id = s.problem_id
JOIN problem_text AS p ON p.problem_id = s.problem_id
JOIN compute_mode AS c ON c.value = s.compute
JOIN config AS h ON h.id = s.config_id
JOIN config_text AS g ON g.config_id = s.config_id
JOIN family AS f ON f.value = h.family
JOIN boundary AS b ON b.value = h.boundary;
COMMIT;
