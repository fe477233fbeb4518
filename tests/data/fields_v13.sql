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
INSERT INTO family VALUES(6,'wgmma');
INSERT INTO family VALUES(7,'mma');
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
INSERT INTO device VALUES(1,'NVIDIA H200',90,132);
INSERT INTO device VALUES(2,'NVIDIA H100 80GB HBM3',90,132);
INSERT INTO device VALUES(3,'host',80,4);
CREATE TABLE environment (
  id             INTEGER PRIMARY KEY,
  device_id      INTEGER NOT NULL REFERENCES device (id),
  memory_bytes   INTEGER NOT NULL CHECK (memory_bytes BETWEEN 0 AND 1125899906842624),
  power_limit    INTEGER NOT NULL CHECK (power_limit BETWEEN 0 AND 1000000),  -- watts; 0: unknown
  driver_version INTEGER NOT NULL CHECK (driver_version BETWEEN 0 AND 10000000), -- 13000 is 13.0; 0: emulation
  nvrtc_version  INTEGER NOT NULL CHECK (nvrtc_version BETWEEN 0 AND 10000000),  -- 13000 is 13.0; 0: other compiler
  UNIQUE (device_id, memory_bytes, power_limit, driver_version, nvrtc_version)
) STRICT;
INSERT INTO environment VALUES(1,1,150109880320,700,13000,13000);
INSERT INTO environment VALUES(2,2,85017493504,700,13000,13000);
INSERT INTO environment VALUES(3,3,25276502016,0,0,0);
INSERT INTO environment VALUES(4,1,25276502016,0,0,0);
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
INSERT INTO problem VALUES(1,4096,4096,4096,1,0,0,0,0,1,4096,4096,4096,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(2,512,512,512,1,0,0,0,0,0,512,512,512,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(3,1760,128,1760,1,0,0,0,0,0,1760,128,128,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(4,7680,64,2560,1,0,0,0,0,0,2560,64,64,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(5,64,4096,4096,1,0,0,0,0,0,4096,4096,4096,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(6,4096,4096,4096,1,0,0,0,1,0,4096,4096,4096,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(7,512,512,512,32,0,0,0,0,0,512,512,512,262144,262144,262144,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(8,35,700,2048,1,0,0,0,0,0,2048,700,700,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(9,1024,1024,1024,1,1,1,1,0,1,1024,1024,1024,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(10,64,64,65536,1,1,1,1,0,0,65536,64,64,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(11,512,4096,4096,1,2,2,2,0,1,4096,4096,4096,0,0,0,16,1,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(12,1023,1023,1023,1,2,2,2,0,0,1023,1023,1023,0,0,0,16,1,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(13,2,8192,8192,1,2,2,2,0,1,8192,8192,8192,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(14,16,4096,4096,1,2,2,2,1,0,16,4096,4096,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(15,16,4096,4095,1,2,2,2,0,1,4095,4095,4096,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(16,10000,100,1000,1,0,0,0,0,0,1000,100,100,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(17,2000,2000,200,1,0,0,0,0,1,200,200,2000,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(18,2049,4096,4096,1,2,2,2,0,1,4096,4096,4096,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(19,1001,1003,1007,1,0,0,0,0,0,1007,1003,1003,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(20,4095,4097,4093,1,2,2,2,0,0,4093,4097,4097,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(21,4,5000,5001,1,1,1,1,0,1,5001,5001,5000,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(22,2,4096,4096,1,0,0,0,0,0,4096,4096,4096,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(23,512,512,64,96,1,1,1,0,1,64,64,512,32768,32768,262144,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(24,2048,2048,2048,1,0,0,0,1,0,2048,2048,2048,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(25,1000,1000,1000,1,0,0,0,0,0,1000,1000,1000,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(26,1280,1280,1280,1,0,0,0,0,1,1280,1280,1280,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(27,1537,1537,1537,1,0,0,0,1,0,1537,1537,1537,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(28,1025,1025,1025,1,2,2,2,0,1,1025,1025,1025,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(29,1760,7000,1760,1,0,0,0,0,0,1760,7000,7000,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(30,2047,2049,2051,1,1,1,1,0,1,2051,2051,2049,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(31,2049,2048,2048,1,2,2,2,0,1,2048,2048,2048,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(32,2500,2500,2500,1,2,2,2,0,0,2500,2500,2500,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(33,197,197,63,192,1,1,1,0,1,63,63,197,12411,12411,38809,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(34,127,129,131,1,0,0,0,0,0,131,129,129,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(35,2047,2049,2051,1,0,0,0,0,1,2051,2051,2049,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(36,128,128,128,512,1,1,1,0,0,128,128,128,16384,16384,16384,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(37,2,11001,4095,1,2,2,2,0,0,4095,11001,11001,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(38,4,16384,1024,1,0,0,0,0,1,1024,1024,16384,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(39,600,600,60000,1,1,1,1,1,1,600,60000,600,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(40,10000,2500,5000,1,2,2,2,1,0,10000,2500,2500,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(41,4096,1,4096,1,0,0,0,0,0,4096,1,1,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(42,100,100,100,100,0,0,0,0,0,100,100,100,10000,10000,10000,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(43,2048,64,2048,32,2,2,2,0,0,2048,64,64,4194304,131072,131072,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(44,1,4096,4096,1,0,0,0,1,0,1,4096,4096,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(45,9000,37,4000,1,0,0,0,0,0,4000,37,37,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(46,4096,64,4096,1,0,0,0,0,1,4096,4096,64,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(47,4096,4096,4096,1,0,0,0,0,1,4096,4096,4096,0,0,0,16,0,1,3,0,2,0,0,0);
INSERT INTO problem VALUES(48,512,4096,4096,1,2,2,2,0,1,4096,4096,4096,0,0,0,16,0,1,0,0,1,0,0,0);
INSERT INTO problem VALUES(49,512,4096,4096,1,2,2,2,0,1,4096,4096,4096,0,0,0,16,0,2,3,0,2,2,0,0);
INSERT INTO problem VALUES(50,512,4096,4096,1,2,2,2,0,1,4096,4096,4096,0,0,0,16,0,0,0,1,1,0,4104,0);
INSERT INTO problem VALUES(51,512,4096,4096,1,2,2,2,0,1,4096,8192,4096,0,0,0,16,0,0,7,0,2,0,0,0);
INSERT INTO problem VALUES(52,512,4096,4096,1,2,2,2,0,1,8192,4096,4096,0,0,0,16,0,0,8,0,2,0,0,0);
INSERT INTO problem VALUES(53,512,4096,4096,1,2,2,2,0,1,4096,4096,4096,0,0,0,4,1,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(54,512,4096,4096,1,2,2,0,0,1,4096,4096,4096,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(55,24,16,16,1,4,4,5,0,0,16,16,16,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(56,16,40,32,1,4,4,5,0,1,32,32,40,0,0,0,16,0,0,0,0,0,0,0,0);
INSERT INTO problem VALUES(57,300,200,100,1,0,0,0,0,0,100,200,200,0,0,0,16,0,0,0,0,0,0,0,0);
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
INSERT INTO config VALUES(1,6,128,128,64,1,1,3,0,8,3,1,8,1,0,0,1,0,0,2,1,2,1,2,64,0,0,0,0,1);
INSERT INTO config VALUES(2,2,32,64,32,8,8,6,1,4,0,1,0,2,0,0,1,0,0,1,1,1,1,1,0,0,1,2,0,8);
INSERT INTO config VALUES(3,6,64,56,64,1,1,7,0,8,3,2,0,1,1,0,2,0,0,1,1,1,1,2,64,0,1,0,0,1);
INSERT INTO config VALUES(4,2,64,64,16,8,8,4,1,4,0,4,0,4,0,0,4,1,0,1,1,1,1,1,0,0,1,1,0,1);
INSERT INTO config VALUES(5,2,64,64,64,8,8,2,1,4,0,2,0,2,0,1,2,0,0,1,1,1,1,1,0,0,1,0,0,4);
INSERT INTO config VALUES(6,6,128,256,32,1,1,4,0,8,3,1,16,1,0,2,1,0,0,2,1,1,2,1,0,0,0,0,0,1);
INSERT INTO config VALUES(7,6,128,256,32,1,1,4,0,8,3,1,0,1,1,0,1,0,0,2,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(8,2,16,32,16,4,4,4,1,4,2,8,0,8,0,0,8,0,0,1,1,1,1,1,0,0,1,0,0,2);
INSERT INTO config VALUES(9,6,64,128,64,1,1,8,0,8,3,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(10,6,64,32,64,1,1,5,0,8,3,128,0,3,1,0,1,0,0,1,1,1,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(11,6,128,128,64,1,1,6,0,8,3,1,0,1,0,0,1,0,0,2,1,1,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(12,6,128,64,64,1,1,8,0,8,3,1,0,1,0,3,1,0,0,2,1,1,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(13,6,64,8,256,1,1,6,0,8,3,1,0,1,1,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(14,7,16,128,32,1,1,4,1,8,0,8,0,4,0,0,1,0,0,1,4,1,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(15,7,16,64,64,1,1,1,0,8,2,8,0,4,0,0,1,0,0,1,4,1,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(16,2,64,128,8,8,8,3,1,4,2,4,0,4,0,0,4,0,0,1,1,1,1,1,0,0,0,1,0,1);
INSERT INTO config VALUES(17,2,128,128,8,8,8,2,0,4,2,1,0,2,0,0,1,0,0,1,1,1,1,1,0,0,1,3,0,1);
INSERT INTO config VALUES(18,6,128,176,64,1,1,5,0,8,3,1,0,1,1,0,1,0,0,1,1,1,2,1,0,1,1,0,0,1);
INSERT INTO config VALUES(19,2,64,64,16,8,8,4,1,4,2,1,0,4,0,3,1,0,0,1,1,1,1,1,0,0,1,3,0,2);
INSERT INTO config VALUES(20,6,128,128,64,1,1,6,0,8,3,1,0,1,0,3,1,0,0,1,1,1,2,1,0,1,1,0,0,1);
INSERT INTO config VALUES(21,3,4,16,256,1,4,1,0,8,2,2,0,1,0,0,1,0,0,1,1,1,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(22,3,2,32,256,1,4,4,0,4,0,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(23,6,256,128,64,1,1,4,0,8,3,1,0,1,0,0,1,0,0,2,1,1,2,1,0,0,1,0,0,1);
INSERT INTO config VALUES(24,2,128,128,32,8,16,3,3,4,0,1,0,2,0,0,1,0,0,1,1,1,1,1,0,0,1,1,0,1);
INSERT INTO config VALUES(25,2,128,64,32,8,8,3,3,4,2,1,0,2,0,1,1,0,0,1,1,1,1,1,0,0,1,3,0,2);
INSERT INTO config VALUES(26,2,64,64,16,8,8,3,1,4,0,1,0,4,0,3,1,0,0,1,1,1,1,1,0,0,1,3,1,1);
INSERT INTO config VALUES(27,2,128,64,16,8,8,3,3,4,2,4,0,3,0,3,4,0,2,1,1,1,1,1,0,0,0,1,0,1);
INSERT INTO config VALUES(28,6,64,160,64,1,1,7,0,8,2,1,0,1,0,3,1,0,0,1,1,1,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(29,6,128,128,64,1,1,3,0,8,2,1,16,1,0,0,1,0,0,2,1,1,1,2,64,0,0,0,0,1);
INSERT INTO config VALUES(30,6,128,88,64,1,1,7,0,8,2,1,16,1,0,3,1,0,0,1,1,2,1,1,0,1,0,0,0,1);
INSERT INTO config VALUES(31,6,64,256,64,1,1,5,0,8,2,1,0,1,0,0,1,0,0,1,1,1,1,1,0,1,1,0,0,1);
INSERT INTO config VALUES(32,6,128,80,64,1,1,8,0,8,2,1,16,1,1,3,1,0,0,1,1,2,1,1,0,1,1,0,0,1);
INSERT INTO config VALUES(33,6,128,208,64,1,1,4,0,8,2,1,0,1,0,3,1,0,0,2,1,1,2,1,0,0,1,0,0,1);
INSERT INTO config VALUES(34,2,32,4,32,1,4,6,1,4,2,1,0,4,0,0,1,1,0,1,1,1,1,1,0,0,1,1,0,4);
INSERT INTO config VALUES(35,2,32,128,16,8,8,4,1,4,0,8,0,4,0,1,8,0,0,1,1,1,1,1,0,0,1,3,0,1);
INSERT INTO config VALUES(36,6,192,176,32,1,1,4,0,8,2,1,0,1,1,3,1,0,0,3,1,2,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(37,6,128,128,64,1,1,6,0,8,3,1,0,1,0,0,1,0,0,1,1,1,1,1,0,1,1,0,0,1);
INSERT INTO config VALUES(38,6,256,128,64,1,1,4,0,8,3,1,0,1,0,3,1,0,0,2,1,2,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(39,7,16,128,32,1,1,2,0,8,2,6,0,4,0,0,1,0,0,1,4,1,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(40,3,4,16,128,1,4,4,0,4,0,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(41,6,128,160,64,1,1,6,0,8,2,6,0,1,0,0,1,0,0,1,1,2,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(42,6,128,160,64,1,1,6,0,8,3,6,0,1,0,0,1,0,0,1,1,2,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(43,6,128,256,64,1,1,4,0,8,3,1,0,1,0,2,1,0,0,2,1,2,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(44,6,128,256,64,1,1,4,0,8,3,1,8,1,0,2,1,0,0,2,1,2,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(45,3,1,16,128,1,4,4,0,4,0,1,0,1,1,0,1,0,0,1,1,1,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(46,3,1,16,128,1,4,4,0,4,0,1,0,1,1,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(47,2,16,128,8,4,8,3,1,4,2,1,0,4,0,0,1,0,0,1,1,1,1,1,0,0,1,3,0,1);
INSERT INTO config VALUES(48,2,16,128,8,8,4,3,1,4,2,1,0,4,0,0,1,0,0,1,1,1,1,1,0,0,1,1,0,1);
INSERT INTO config VALUES(49,6,128,64,128,1,1,4,0,8,3,1,0,1,0,0,1,0,0,2,1,1,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(50,6,256,64,64,1,1,5,0,8,3,1,0,1,0,0,1,0,0,2,1,1,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(51,3,1,32,256,1,4,4,0,4,0,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(52,3,1,32,256,1,4,2,0,4,0,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,1,0,0,1);
INSERT INTO config VALUES(53,2,128,40,32,8,4,2,1,4,2,1,0,2,0,0,1,1,0,1,1,1,1,1,0,0,1,1,1,1);
INSERT INTO config VALUES(54,2,128,40,32,8,4,2,1,4,2,1,0,2,0,0,1,1,0,1,1,1,1,1,0,0,1,0,1,1);
INSERT INTO config VALUES(55,2,64,64,32,8,8,2,1,4,0,8,0,4,0,0,8,1,0,1,1,1,1,1,0,0,1,1,0,1);
INSERT INTO config VALUES(56,6,64,64,128,1,1,3,0,8,3,2,0,1,0,0,2,0,0,1,1,1,1,2,64,0,0,0,0,1);
INSERT INTO config VALUES(57,6,128,80,64,1,1,4,0,8,3,1,16,1,1,0,1,0,0,2,1,2,1,2,64,0,0,0,0,1);
INSERT INTO config VALUES(58,6,128,80,64,1,1,4,0,8,2,1,16,1,1,0,1,0,0,2,1,2,1,2,64,0,0,0,0,1);
INSERT INTO config VALUES(59,2,32,16,16,2,8,3,1,4,2,1,0,8,0,0,1,1,0,1,1,1,1,1,0,0,0,1,0,1);
INSERT INTO config VALUES(60,2,32,16,16,2,8,3,2,4,2,1,0,8,0,0,1,0,0,1,1,1,1,1,0,0,0,3,0,1);
INSERT INTO config VALUES(61,0,8,32,1,1,1,1,0,1,1,1,0,1,0,0,1,0,0,1,1,1,1,1,0,0,0,0,0,1);
INSERT INTO config VALUES(62,2,16,48,32,2,12,2,1,4,2,1,0,8,0,0,1,1,0,1,1,1,1,1,0,0,0,1,0,1);
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
INSERT INTO measurement VALUES(1,1,1,1,1,'tmm_x','00aa',0,'',10.0,9.0,12.0,50,0.10000000000000000555,40,0,2048,0,1980,0,1795318228);
INSERT INTO measurement VALUES(2,1,1,1,1,'tmm_x','00bb',3,'40 bytes of spills',NULL,NULL,NULL,0,0.10000000000000000555,40,0,2048,0,1980,0,1795318228);
INSERT INTO measurement VALUES(3,1,2,2,1,'tmm_x','00aa',0,'',10.0,9.0,12.0,50,0.10000000000000000555,40,0,2048,0,1980,0,1795900208);
INSERT INTO measurement VALUES(4,1,2,2,1,'tmm_x','00bb',3,'40 bytes of spills',NULL,NULL,NULL,0,0.10000000000000000555,40,0,2048,0,1980,0,1795900208);
INSERT INTO measurement VALUES(5,1,3,3,1,'tmm_x','00aa',0,'',10.0,9.0,12.0,50,0.10000000000000000555,40,0,2048,0,1980,0,1795367828);
INSERT INTO measurement VALUES(6,1,3,3,1,'tmm_x','00bb',3,'40 bytes of spills',NULL,NULL,NULL,0,0.10000000000000000555,40,0,2048,0,1980,0,1795367828);
INSERT INTO measurement VALUES(7,1,4,4,1,'tmm_x','00aa',0,'',10.0,9.0,12.0,50,0.10000000000000000555,40,0,2048,0,1980,0,1795424327);
INSERT INTO measurement VALUES(8,1,4,4,1,'tmm_x','00bb',3,'40 bytes of spills',NULL,NULL,NULL,0,0.10000000000000000555,40,0,2048,0,1980,0,1795424327);
INSERT INTO measurement VALUES(9,1,5,5,1,'tmm_x','00aa',0,'',10.0,9.0,12.0,50,0.10000000000000000555,40,0,2048,0,1980,0,1795424368);
INSERT INTO measurement VALUES(10,1,5,5,1,'tmm_x','00bb',3,'40 bytes of spills',NULL,NULL,NULL,0,0.10000000000000000555,40,0,2048,0,1980,0,1795424368);
INSERT INTO measurement VALUES(11,1,6,6,1,'tmm_x','00aa',0,'',10.0,9.0,12.0,50,0.10000000000000000555,40,0,2048,0,1980,0,1795443981);
INSERT INTO measurement VALUES(12,1,6,6,1,'tmm_x','00bb',3,'40 bytes of spills',NULL,NULL,NULL,0,0.10000000000000000555,40,0,2048,0,1980,0,1795443981);
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
INSERT INTO selection VALUES(1,1,1,0,1,1,813.76001238822937011,12,'within 1% of family=wgmma,block_m=128,block_n=128,block_k=64,stages=3,vector_width=8,boundary=hardware,raster=8,warps_m=2,multicast_b=2,planes=2,promote_k=64 and before it in the search order in a run-off of 4 over 30 rounds; 12 candidates measured, 0 rejected','quick:14814b065bbe7821','shipped',1795318228,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(2,1,2,0,1,2,9.3000000000000007105,41,'as good by every NVRTC: 1.1% slower than family=simt,block_m=32,block_n=32,block_k=32,thread_m=8,thread_n=4,stages=4,async_copy=1,vector_width=4,boundary=exact,min_blocks=4,along_k=1,overlap=1,fma_order=1,slice_k=4 by 13.0 and 7.2% faster by 13.5, side by side','quick:995b91008d327fd1','shipped',1795900208,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(3,1,3,0,1,3,23.706799745559692382,41,'beat family=simt,block_m=32,block_n=128,block_k=16,thread_m=8,thread_n=4,stages=3,async_copy=1,vector_width=4,boundary=exact,split_k=7,min_blocks=4,overlap=1,fma_order=1 by 0.1% in a run-off of 4 over 30 rounds; 41 candidates measured, 0 rejected','quick:7e9bbb2f44047eb1','shipped',1795367828,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(4,1,4,1,1,4,61.61813338597615086,39,'within 1% of family=simt,block_m=128,block_n=64,block_k=16,thread_m=8,thread_n=8,stages=3,async_copy=1,vector_width=4,boundary=exact,split_k=4,min_blocks=3,cluster=4,overlap=1,fma_order=5 and before it in the search order in a run-off of 5 over 30 rounds; 39 candidates measured, 0 rejected','quick:151dbbdced976f2b','shipped',1795424327,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(5,1,5,1,1,5,48.805051728298792569,163,'beat family=simt,block_m=32,block_n=128,block_k=16,thread_m=8,thread_n=8,stages=3,async_copy=1,vector_width=4,boundary=exact,split_k=8,min_blocks=4,pack_ab=1,cluster=8,overlap=1,fma_order=3 by 0.7% in a run-off of 9 over 40 rounds; 163 candidates measured, 0 rejected; the budget ended before 423 others','normal:46374b45914ef238:cut','shipped',1795424368,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(6,1,6,2,1,6,451.81332031885784771,101,'within 1% of family=wgmma,block_m=128,block_n=256,block_k=32,stages=4,vector_width=8,boundary=hardware,raster=8,pack_ab=2,warps_m=2,multicast_b=2 and before it in the search order in a run-off of 17 over 40 rounds; 101 candidates measured, 0 rejected; the budget ended before 475 others','normal:22da0c62f7ed50f5:cut','shipped',1795443981,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(7,1,7,2,1,7,37.002483318591941952,74,'beat family=wgmma,block_m=128,block_n=256,block_k=32,stages=4,vector_width=8,boundary=hardware,swap_ab=1,warps_m=2,multicast_b=2,overlap=1 by 0.0% in a run-off of 17 over 40 rounds; 74 candidates measured, 0 rejected; the budget ended before 502 others','normal:85b43d6924fbb040:cut','shipped',1795444000,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(8,1,8,1,1,8,8.3095812520315472937,158,'beat family=simt,block_m=16,block_n=32,block_k=16,thread_m=4,thread_n=4,stages=4,async_copy=1,vector_width=4,boundary=peeled,split_k=8,min_blocks=8,cluster=8,overlap=1,fma_order=1,slice_k=2 by 0.2% in a run-off of 9 over 40 rounds; 158 candidates measured, 0 rejected; the budget ended before 424 others','normal:582189a12c3a734e:cut','shipped',1795458683,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(9,1,9,0,1,9,5.5004296716579723636,25,'beat family=wgmma,block_m=64,block_n=128,block_k=64,stages=8,vector_width=8,boundary=hardware,swap_ab=1,overlap=1 by 0.9% in a run-off of 8 over 30 rounds; 25 candidates measured, 0 rejected','quick:6cf8f012ee242885','shipped',1795459443,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(10,1,10,0,1,10,7.3098120016929435394,577,'beat family=wgmma,block_m=64,block_n=64,block_k=128,stages=6,vector_width=8,boundary=hardware,split_k=128,overlap=1 by 2.0% in a run-off of 17 over 40 rounds; 577 candidates measured, 0 rejected','normal:1ce02defc9f3e9ec','shipped',1795467907,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(11,1,11,0,1,11,29.461646781248205684,168,'within 1% of family=wgmma,block_m=128,block_n=128,block_k=64,stages=6,vector_width=8,boundary=hardware,warps_n=2,overlap=1 and before it in the search order in a run-off of 9 over 40 rounds; 168 candidates measured, 0 rejected; the budget ended before 409 others','normal:c2b6e57f802ab1df:cut','shipped',1795483333,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(12,1,12,0,1,12,12.463314618383133592,379,'within 1% of family=wgmma,block_m=128,block_n=64,block_k=64,stages=8,vector_width=8,boundary=hardware,pack_ab=3,warps_m=2,multicast_b=2,overlap=1 and before it in the search order in a run-off of 8 over 40 rounds; 379 candidates measured, 1 rejected: 1 spills; the budget ended before 198 others','normal:c4d4e3d7aa3e75ee:cut','shipped',1795489472,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(13,1,13,0,1,13,31.656275535451953828,340,'within 1% of family=wgmma,block_m=64,block_n=8,block_k=256,stages=6,vector_width=8,boundary=hardware,swap_ab=1,overlap=1 and before it in the search order in a run-off of 9 over 40 rounds; 340 candidates measured, 0 rejected; the budget ended before 236 others','normal:e2a45decafa4fa22:cut','shipped',1795490380,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(14,1,14,0,1,14,11.098000220954418182,539,'within 1% of family=mma,block_m=16,block_n=64,block_k=32,stages=4,async_copy=1,vector_width=8,boundary=exact,split_k=8,min_blocks=8,warps_n=2,overlap=1 and before it in the search order in a run-off of 9 over 40 rounds; 539 candidates measured, 0 rejected; the budget ended before 38 others','normal:c48bbfa41795c4a8:cut','shipped',1795490551,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(15,1,15,0,1,15,19.138938918405649758,85,'beat family=mma,block_m=16,block_n=128,block_k=32,vector_width=8,boundary=peeled,split_k=16,min_blocks=4,warps_n=4,overlap=1 by 3.3% in a run-off of 9 over 40 rounds; 85 candidates measured, 0 rejected; the budget ended before 492 others','normal:6f6fe083b1cd45f3:cut','shipped',1795550811,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(16,1,16,1,1,16,71.336001157760620117,161,'within 1% of family=simt,block_m=64,block_n=128,block_k=8,thread_m=8,thread_n=8,stages=3,async_copy=2,vector_width=4,boundary=peeled,split_k=4,min_blocks=4,cluster=4 and before it in the search order in a run-off of 9 over 40 rounds; 161 candidates measured, 0 rejected; the budget ended before 435 others','normal:035b6675cb530dd9:cut','shipped',1795550980,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(17,1,17,1,1,17,38.685999810695648193,135,'within 1% of family=simt,block_m=128,block_n=128,block_k=8,thread_m=8,thread_n=8,stages=2,vector_width=4,boundary=peeled,min_blocks=2,overlap=1 and before it in the search order in a run-off of 9 over 40 rounds; 135 candidates measured, 20 rejected: 20 spills; the budget ended before 461 others','normal:d4ed2db52f477940:cut','shipped',1795551017,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(18,1,18,0,1,18,104.17309132489290846,279,'beat family=wgmma,block_m=128,block_n=176,block_k=64,stages=5,vector_width=8,boundary=hardware,swap_ab=1,ping_pong=1 by 0.5% in a run-off of 8 over 40 rounds; 279 candidates measured, 0 rejected; the budget ended before 297 others','normal:0f16cc5c209a015b:cut','shipped',1795555188,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(19,1,19,1,1,19,51.726222038269042968,5,'beat family=simt,block_m=64,block_n=64,block_k=16,thread_m=8,thread_n=8,stages=4,async_copy=1,vector_width=4,boundary=peeled,min_blocks=4,pack_ab=3,fma_order=3,slice_k=2 by 2.4% in a run-off of 5 over 40 rounds; 5 candidates measured, 0 rejected; the budget ended before 581 others','normal:7ab77d58593dec24:cut','shipped',1795571732,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(20,1,20,0,1,20,235.40160655975341796,39,'within 1% of family=wgmma,block_m=128,block_n=128,block_k=64,stages=6,vector_width=8,boundary=hardware,raster=8,pack_ab=3,multicast_b=2,ping_pong=1,overlap=1 and before it in the search order in a run-off of 17 over 40 rounds; 39 candidates measured, 0 rejected; the budget ended before 537 others','normal:94ac016014d867da:cut','shipped',1795574876,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(21,1,21,0,1,21,26.888533433278400508,9,'beat family=gemv,block_m=4,block_n=8,block_k=1024,thread_n=8,vector_width=8,boundary=peeled,overlap=1 by 1.8% in a run-off of 7 over 40 rounds; 9 candidates measured, 0 rejected; the budget ended before 568 others','normal:87e9b3d2d5b97e82:cut','shipped',1795574912,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(22,1,22,1,1,22,16.973714033762611563,581,'beat family=gemv,block_m=2,block_n=32,block_k=128,thread_n=4,stages=4,vector_width=4,boundary=exact,overlap=1 by 0.2% in a run-off of 9 over 40 rounds; 581 candidates measured, 0 rejected; the budget ended before 4 others','normal:cee30d9ee108b8af:cut','shipped',1795619783,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(23,1,23,0,1,23,17.461454326456241403,5,'beat family=wgmma,block_m=256,block_n=128,block_k=64,stages=4,vector_width=8,boundary=hardware,warps_m=2 by 2.6% in a run-off of 4 over 40 rounds; 5 candidates measured, 0 rejected; the budget ended before 573 others','normal:5b917ec49dda61f7:cut','shipped',1795633227,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(24,1,24,1,1,24,319.32799518108367919,165,'beat family=simt,block_m=128,block_n=128,block_k=32,thread_m=8,thread_n=16,stages=3,async_copy=3,vector_width=4,boundary=exact,min_blocks=2,overlap=1,fma_order=3 by 0.3% in a run-off of 8 over 40 rounds; 165 candidates measured, 0 rejected; the budget ended before 431 others','normal:18511f979960a930:cut','shipped',1795644665,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(25,1,25,1,1,25,47.11920022964477539,236,'beat family=simt,block_m=64,block_n=128,block_k=32,thread_m=8,thread_n=8,stages=3,async_copy=3,vector_width=4,boundary=peeled,min_blocks=2,pack_ab=1,overlap=1,fma_order=3,slice_k=2 by 0.3% in a run-off of 9 over 40 rounds; 236 candidates measured, 4 rejected: 4 spills; the budget ended before 360 others','normal:962d8ef749abbe68:cut','shipped',1795655284,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(26,1,26,1,1,26,98.915198445320129394,214,'beat family=simt,block_m=64,block_n=64,block_k=16,thread_m=8,thread_n=8,stages=4,async_copy=1,vector_width=4,boundary=exact,min_blocks=4,pack_ab=3,overlap=1,fma_order=3,stream_k=1 by 0.3% in a run-off of 9 over 40 rounds; 214 candidates measured, 22 rejected: 22 spills; the budget ended before 382 others','normal:58e4c036f5fd9377:cut','shipped',1795660225,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(27,1,27,1,1,27,166.83199008305868459,596,'beat family=simt,block_m=128,block_n=64,block_k=16,thread_m=8,thread_n=8,stages=3,async_copy=3,vector_width=4,boundary=peeled,split_k=4,min_blocks=3,pack_ab=3,trim=2,overlap=1,fma_order=3 by 0.7% in a run-off of 9 over 40 rounds; 596 candidates measured, 25 rejected: 25 spills','normal:82b7dfc6af8d5831','shipped',1795670016,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(28,1,28,0,1,28,9.615360101064046816,138,'beat family=wgmma,block_m=128,block_n=80,block_k=64,stages=8,vector_width=8,boundary=peeled,pack_ab=3,overlap=1 by 4.0% in a run-off of 8 over 40 rounds; 138 candidates measured, 0 rejected; the budget ended before 439 others','normal:2117a4ed65ded603:cut','shipped',1795682183,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(29,1,29,0,1,29,295.95600068569183349,95,'beat family=wgmma,block_m=128,block_n=128,block_k=64,stages=3,vector_width=8,boundary=peeled,raster=8,warps_m=2,planes=2,promote_k=64 by 0.0% in a run-off of 8 over 40 rounds; 95 candidates measured, 2 rejected: 2 spills; the budget ended before 231 others','normal:d96d00153bef0368:cut','shipped',1795692194,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(30,1,30,0,1,30,39.084160327911376953,149,'beat family=wgmma,block_m=128,block_n=88,block_k=64,stages=7,vector_width=8,boundary=peeled,raster=16,pack_ab=3,multicast_a=2,ping_pong=1,overlap=1 by 0.6% in a run-off of 9 over 40 rounds; 149 candidates measured, 0 rejected; the budget ended before 432 others','normal:10bf6ac516a714f5:cut','shipped',1795692241,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(31,1,31,0,1,31,27.801513671875,258,'as fast as family=wgmma,block_m=64,block_n=256,block_k=64,stages=5,vector_width=8,boundary=peeled,raster=16,ping_pong=1,overlap=1 within what the rounds tell, and before it in the search order in a run-off of 16 over 40 rounds; 258 candidates measured, 4 rejected: 4 spills; the budget ended before 322 others','normal:719738576c434ef6:cut','shipped',1795692346,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(32,1,32,0,1,32,69.735467433929443359,215,'beat family=wgmma,block_m=128,block_n=80,block_k=64,stages=7,vector_width=8,boundary=peeled,raster=16,swap_ab=1,pack_ab=3,multicast_a=2,ping_pong=1 by 0.2% in a run-off of 9 over 40 rounds; 215 candidates measured, 4 rejected: 4 spills; the budget ended before 366 others','normal:c1459f40d7544f7d:cut','shipped',1795692402,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(33,1,33,0,1,33,18.686222367816501588,150,'beat family=wgmma,block_m=128,block_n=208,block_k=64,stages=4,vector_width=8,boundary=peeled,pack_ab=3,warps_m=2,overlap=1 by 2.0% in a run-off of 9 over 40 rounds; 150 candidates measured, 0 rejected; the budget ended before 431 others','normal:319c3437fc10c42b:cut','shipped',1795692427,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(34,2,34,0,1,34,2.5846875505521893501,35,'as fast as family=simt,block_m=32,block_n=4,block_k=32,thread_n=4,stages=6,async_copy=1,vector_width=4,boundary=peeled,min_blocks=4,along_k=1,overlap=1,fma_order=4,slice_k=4 within what the rounds tell, and before it in the search order in a run-off of 5 over 30 rounds; 35 candidates measured, 0 rejected','quick:42f4b24c0bfa6d0c','shipped',1795713111,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(35,2,5,0,1,35,49.302736395283744742,46,'beat family=simt,block_m=64,block_n=32,block_k=16,thread_m=8,thread_n=8,stages=3,async_copy=1,vector_width=4,boundary=exact,split_k=8,min_blocks=8,pack_ab=1,cluster=8,overlap=1,fma_order=5 by 0.6% in a run-off of 5 over 30 rounds; 46 candidates measured, 0 rejected','quick:509085ce1aa165f4','shipped',1795713142,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(36,2,35,2,1,36,79.549541840186492437,27,'beat family=wgmma,block_m=192,block_n=176,block_k=32,stages=4,vector_width=8,boundary=peeled,swap_ab=1,pack_ab=3,warps_m=3,multicast_a=2 by 0.6% in a run-off of 5 over 30 rounds; 27 candidates measured, 0 rejected','quick:acfc9c64fb699b62','shipped',1795713415,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(37,2,36,0,1,11,18.483555979198879271,126,'beat wgmma 128x128x64 s6 pingpong overlap by 0.8% in a run-off of 8 over 10 rounds; 126 candidates measured, 0 failed; the 5 s of effort normal ended before 455 others; 2745 configs rejected before: 1637 x not among the best predictions, 297 x predicted to be too much slower than the best, 255 x block_n is up to … and a multiple of … for each of warps_n warpgroups, 203 x where the right operand''s rows run along N, the columns of each of several warps_n are a multiple of …, 353 for 5 rarer reasons','normal:49cb4b865ffd9651','shipped',1795827051,18.625738828078560516,37,18.622475720587232217,0);
INSERT INTO selection VALUES(38,2,33,0,1,38,20.857674437899923701,29,'beat family=wgmma,block_m=128,block_n=208,block_k=64,stages=4,vector_width=8,boundary=peeled,pack_ab=3,warps_m=2,multicast_b=2,overlap=1 by 0.3% in a run-off of 5 over 30 rounds; 29 candidates measured, 0 rejected','quick:a471da87b148b48e','shipped',1795713800,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(39,2,37,0,1,39,43.250181458213113215,27,'beat family=gemv,block_m=2,block_n=512,block_k=64,thread_n=8,vector_width=8,boundary=peeled,split_k=12,overlap=1 by 21.0% in a run-off of 5 over 30 rounds; 27 candidates measured, 0 rejected','quick:37cfc3c971231b12','shipped',1795713884,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(40,2,38,1,1,40,23.967085565839497008,35,'beat family=skinny,block_m=4,block_n=64,block_k=64,thread_m=4,thread_n=4,stages=4,vector_width=4,boundary=hardware,overlap=1 by 0.9% in a run-off of 5 over 30 rounds; 35 candidates measured, 0 rejected','quick:7b372c29e632ba8f','shipped',1795713972,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(41,1,39,0,1,41,89.581539997687713141,50,'beat wgmma 128x160x64 s6 c1x2 split6 overlap by 0.0% in a run-off of 9 over 20 rounds; 50 candidates measured, 0 failed; the chance that one of 534 others is faster by more than 1% is below 10%; 94348 configs rejected before: 26144 x predicted to be too much slower than the best, 18829 x not among the best predictions, 14888 x a cluster either sums parts of K or shares tiles, 9667 x blocks that load a tile together take whole groups of … of its rows, 24820 for 7 rarer reasons','normal:eebbcef11e126e97','shipped',1795850475,90.86523147729727157,42,89.616000652313232421,0);
INSERT INTO selection VALUES(42,1,40,0,1,43,384.82666015625,8,'as fast as wgmma 128x256x64 w2 s4 c1x2 pack2 raster8 overlap within what the rounds tell, and before it in the search order in a run-off of 6 over 22 rounds; 8 candidates measured, 0 failed; the budget ended before 570 others; 25135 configs rejected before: 20907 x where the right operand''s rows run along N, a warpgroup''s columns are a multiple of …, 1232 x predicted to be too much slower than the best, 1108 x block_n is up to … and a multiple of … for each of warps_n warpgroups, 907 x not among the best predictions, 981 for 7 rarer reasons','normal:e4dd8aaaf0c5ded4:cut','shipped',1795815201,384.82666015625,44,380.81067800521850585,0);
INSERT INTO selection VALUES(43,1,41,0,1,45,16.946285963058471679,17,'beat gemv 1x16x128 t1x4 s4 v4 exact swap by 2.6% in a run-off of 9 over 10 rounds; 17 candidates measured, 0 failed; the budget ended before 563 others; 52174 configs rejected before: 28935 x predicted to be too much slower than the best, 10318 x an SM''s shared memory does not hold as many blocks as min_blocks says, 5899 x the block''s threads must divide the tiles of A and B into equal numbers of vectors, row by row, or outnumber their vectors, 1918 x not among the best predictions, 5104 for 12 rarer reasons','normal:cafe42e8514a3830:cut','shipped',1795815216,19.931707440353022775,46,17.388666669527687247,0);
INSERT INTO selection VALUES(44,1,42,0,1,47,13.049379504960159081,16,'beat simt 16x128x8 t8x4 s3 async v4 peeled order1 o4 overlap by 0.1% in a run-off of 8 over 10 rounds; 16 candidates measured, 0 failed; the budget ended before 578 others; 10541 configs rejected before: 4312 x not among the best predictions, 2688 x predicted to be too much slower than the best, 888 x where the right operand''s rows run along N, a warpgroup''s columns are a multiple of …, 811 x an SM''s shared memory does not hold as many blocks as min_blocks says, 1842 for 12 rarer reasons','normal:d826b5395e7062f2:cut','shipped',1795815220,13.686000236443110367,48,13.066385921679046333,0);
INSERT INTO selection VALUES(45,1,43,0,1,49,68.738285984311787045,5,'beat wgmma 256x64x64 w2 s5 overlap by 1.6% in a run-off of 5 over 10 rounds; 5 candidates measured, 0 failed; the budget ended before 571 others; 18690 configs rejected before: 10472 x where the right operand''s rows run along N, a warpgroup''s columns are a multiple of …, 2941 x not among the best predictions, 1564 x block_n is up to … and a multiple of … for each of warps_n warpgroups, 1256 x a cluster either sums parts of K or shares tiles, 2457 for 7 rarer reasons','normal:20b8862d2a1e0ab2:cut','shipped',1795815228,70.795427475656779849,50,69.813713431358337402,0);
INSERT INTO selection VALUES(46,1,44,1,1,51,16.735589657074363856,23,'beat gemv 1x32x256 t1x4 s2 v4 exact overlap by 0.7% in a run-off of 8 over 10 rounds; 23 candidates measured, 0 failed; the budget ended before 561 others; 29829 configs rejected before: 14707 x predicted to be too much slower than the best, 5773 x an SM''s shared memory does not hold as many blocks as min_blocks says, 4791 x not among the best predictions, 2216 x the block''s threads must divide the tiles of A and B into equal numbers of vectors, row by row, or outnumber their vectors, 2342 for 8 rarer reasons','normal:207abb1b7e7b9858:cut','shipped',1795815235,16.735589657074363856,52,16.8609365503838724,0);
INSERT INTO selection VALUES(47,2,45,0,1,53,96.599999070167541503,86,'beat simt 128x40x32 t8x4 s2 async v4 peeled stream along o2 overlap by 1.4% in a run-off of 8 over 10 rounds; 86 candidates measured, 0 failed; the 5 s of effort normal ended before 509 others; 40042 configs rejected before: 18616 x predicted to be too much slower than the best, 10589 x not among the best predictions, 5878 x an SM''s shared memory does not hold as many blocks as min_blocks says, 3668 x the block''s threads must move at least a row of the tiles of A and B at a time, a vector each, 1291 for 12 rarer reasons','normal:7eeb6a79f049b543','shipped',1795836692,100.10079741477966308,54,97.999998927116394042,0);
INSERT INTO selection VALUES(48,2,46,0,1,55,59.779999777674674987,3,'beat wgmma 64x64x128 s3 cluster2 split2 planes2 promote64 by 41.3% in a run-off of 3 over 10 rounds; 3 candidates measured, 0 failed; the budget ended before 580 others; 82531 configs rejected before: 22218 x not among the best predictions, 18575 x predicted to be too much slower than the best, 9696 x min_blocks blocks do not fit an SM''s shared memory, 6700 x block_n is up to … and a multiple of … for each of warps_n warpgroups, 25342 for 13 rarer reasons','normal:cc7c8b6c4d982684:cut','shipped',1795812898,59.779999777674674987,56,84.466665983200073242,0);
INSERT INTO selection VALUES(49,2,47,0,1,57,827.7199864387512207,55,'beat wgmma 128x80x64 w2 s4 peeled c1x2 planes2 promote64 swap raster16 by 0.8% in a run-off of 17 over 10 rounds; 55 candidates measured, 2 failed: 2 spills; the chance that one of 226 others is faster by more than 1% is below 10%; 14720 configs rejected before: 5222 x predicted to be too much slower than the best, 3787 x a thread holds at most … accumulators, 2006 x not among wgmma''s best predictions, 826 x block_n is up to … and a multiple of … for each of warps_n warpgroups, 2879 for 10 rarer reasons','normal:323a1b322efd6b4b','shipped',1795824602,854.23201322555541992,58,834.6639871597290039,0);
INSERT INTO selection VALUES(56,1,54,0,1,11,29.461646781248205684,168,'within 1% of family=wgmma,block_m=128,block_n=128,block_k=64,stages=6,vector_width=8,boundary=hardware,warps_n=2,overlap=1 and before it in the search order in a run-off of 9 over 40 rounds; 168 candidates measured, 0 rejected; the budget ended before 409 others','normal:c2b6e57f802ab1df:cut','shipped',1795483333,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(57,1,50,0,1,11,29.461646781248205684,168,'within 1% of family=wgmma,block_m=128,block_n=128,block_k=64,stages=6,vector_width=8,boundary=hardware,warps_n=2,overlap=1 and before it in the search order in a run-off of 9 over 40 rounds; 168 candidates measured, 0 rejected; the budget ended before 409 others','normal:c2b6e57f802ab1df:cut','shipped',1795483333,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(58,1,48,0,1,11,29.461646781248205684,168,'within 1% of family=wgmma,block_m=128,block_n=128,block_k=64,stages=6,vector_width=8,boundary=hardware,warps_n=2,overlap=1 and before it in the search order in a run-off of 9 over 40 rounds; 168 candidates measured, 0 rejected; the budget ended before 409 others','normal:c2b6e57f802ab1df:cut','shipped',1795483333,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(59,1,49,0,1,11,29.461646781248205684,168,'within 1% of family=wgmma,block_m=128,block_n=128,block_k=64,stages=6,vector_width=8,boundary=hardware,warps_n=2,overlap=1 and before it in the search order in a run-off of 9 over 40 rounds; 168 candidates measured, 0 rejected; the budget ended before 409 others','normal:c2b6e57f802ab1df:cut','shipped',1795483333,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(60,1,53,0,1,11,29.461646781248205684,168,'within 1% of family=wgmma,block_m=128,block_n=128,block_k=64,stages=6,vector_width=8,boundary=hardware,warps_n=2,overlap=1 and before it in the search order in a run-off of 9 over 40 rounds; 168 candidates measured, 0 rejected; the budget ended before 409 others','normal:c2b6e57f802ab1df:cut','shipped',1795483333,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(61,1,51,0,1,11,29.461646781248205684,168,'within 1% of family=wgmma,block_m=128,block_n=128,block_k=64,stages=6,vector_width=8,boundary=hardware,warps_n=2,overlap=1 and before it in the search order in a run-off of 9 over 40 rounds; 168 candidates measured, 0 rejected; the budget ended before 409 others','normal:c2b6e57f802ab1df:cut','shipped',1795483333,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(62,1,52,0,1,11,29.461646781248205684,168,'within 1% of family=wgmma,block_m=128,block_n=128,block_k=64,stages=6,vector_width=8,boundary=hardware,warps_n=2,overlap=1 and before it in the search order in a run-off of 9 over 40 rounds; 168 candidates measured, 0 rejected; the budget ended before 409 others','normal:c2b6e57f802ab1df:cut','shipped',1795483333,NULL,NULL,NULL,0);
INSERT INTO selection VALUES(63,3,55,4,1,59,20.652599999999800672,20,'fastest of 20','quick:b5709d200318e0f4','user',1795948995,24.317250000000058206,60,20.968888888889019028,0);
INSERT INTO selection VALUES(64,3,56,4,1,61,44.396000000000640285,20,'fastest of 20','quick:477fde158662327c','user',1795949001,57.0044999999954598,62,57.0044999999954598,0);
INSERT INTO selection VALUES(65,4,57,0,1,59,7.5,1,'raced within a program','quick:b5709d200318e0f4','raced',1795948995,NULL,NULL,9.25,0);
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
