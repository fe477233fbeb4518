-- The tuning database: every measurement of every candidate, and the decisions made from them.
-- It holds numbers, names and one-line reasons only: no source text, no compiled code, no paths, no options.
-- Problems and configs are JSON text, {"family":"simt","block_m":64}: the fields that differ from neutral, in the order of the program's
-- table of fields, without blanks, so that equal ones have equal texts. A field that is added there changes no table and no row; the
-- views problem_fields and config_fields have a column for each.
-- A change here is a new version: raise TuningDatabase::kVersion, and add a step to migration.cpp where a column's values change, too.
-- Views stand in views.sql; every migration makes them anew.

-- Names of the enumerators. The program fills them in, and adds what a newer program knows, so a new enumerator needs no new version.
CREATE TABLE compute_mode (value INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE outcome (value INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE device (
  id                 INTEGER PRIMARY KEY,
  name               TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 200), -- as the driver spells it; 'host' is the emulation
  compute_capability INTEGER NOT NULL CHECK (compute_capability BETWEEN 0 AND 10000), -- major * 10 + minor
  sm_count           INTEGER NOT NULL CHECK (sm_count BETWEEN 0 AND 1000000),
  UNIQUE (name, compute_capability, sm_count)
) STRICT;

-- What a device ran with while it was measured. No part of a measurement's identity.
CREATE TABLE environment (
  id             INTEGER PRIMARY KEY,
  device_id      INTEGER NOT NULL REFERENCES device (id),
  memory_bytes   INTEGER NOT NULL CHECK (memory_bytes BETWEEN 0 AND 1125899906842624),
  power_limit    INTEGER NOT NULL CHECK (power_limit BETWEEN 0 AND 1000000),  -- watts; 0: unknown
  driver_version INTEGER NOT NULL CHECK (driver_version BETWEEN 0 AND 10000000), -- 13000 is 13.0; 0: emulation
  nvrtc_version  INTEGER NOT NULL CHECK (nvrtc_version BETWEEN 0 AND 10000000),  -- 13000 is 13.0; 0: other compiler
  UNIQUE (device_id, memory_bytes, power_limit, driver_version, nvrtc_version)
) STRICT;

-- What is asked, always row-major: op(A) is m x k, op(B) is k x n, C is m x n. A gate takes op(B) of 2 n columns (swiglu), or op(A) of
-- 2 m rows (swiglu_rows). The compute mode is not here: measurements serve every mode, and only a selection is made for one.
CREATE TABLE problem (
  id     INTEGER PRIMARY KEY,
  fields TEXT NOT NULL CHECK (length(fields) <= 10000 AND fields GLOB '{*}') -- those of kProblemFields, as said above
) STRICT;
CREATE UNIQUE INDEX problem_identity ON problem (fields);

-- How it is done. `tmm-db candidates` and the views spell a config in words.
CREATE TABLE config (
  id     INTEGER PRIMARY KEY,
  fields TEXT NOT NULL CHECK (length(fields) <= 10000 AND fields GLOB '{*}') -- those of kParameters
) STRICT;
CREATE UNIQUE INDEX config_identity ON config (fields);

-- How times were taken. Winners come from the default policy, cold_l2 = 1, graph = 1, other_kernel = 1, data = 'normal', and, where none
-- was decided so, from times back to back.
CREATE TABLE policy (
  id      INTEGER PRIMARY KEY,
  cold_l2 INTEGER NOT NULL CHECK (cold_l2 IN (0, 1)), -- 1: operands rotate past the L2 cache between launches
  graph   INTEGER NOT NULL CHECK (graph IN (0, 1)),   -- 1: launches replayed from a graph, 0: one by one
  other_kernel INTEGER NOT NULL DEFAULT 0 CHECK (other_kernel IN (0, 1)), -- 1: another kernel ran before each launch, 0: back to back
  data    TEXT    NOT NULL CHECK (length(data) BETWEEN 1 AND 100), -- distribution of the operands' values
  UNIQUE (cold_l2, graph, other_kernel, data)
) STRICT;

-- One run of one candidate. Its identity is kernel_hash x config x problem x device x policy; measuring again adds a row, and
-- the newest counts, which is the one with the largest id.
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
CREATE INDEX measurement_by_problem ON measurement (problem_id, policy_id, config_id);

-- Each decision of the tuner. The newest (with the largest id) of a problem, compute mode, device and policy counts; a user's goes
-- before a shipped one, that before a raced one, and any measured one before one that was only predicted.
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
CREATE INDEX selection_by_problem ON selection (problem_id, compute);

-- Announced before it runs, removed with its result. What is left here was killed, or took the machine down.
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

-- What tmm-tune measured of a device itself, for predictions. The newest row of a device counts, which is the one with the largest id;
-- one of the same driver and power limit goes before others.
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
