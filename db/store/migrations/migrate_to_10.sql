-- Version 10: what tmm-tune measured of a device is kept, and predictions use it; problems have epilogues.
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

-- A problem says what its epilogue is made of. Until now there was none.
CREATE TABLE bias_axis (value INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE activation (value INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO bias_axis VALUES (0, 'none');
INSERT INTO activation VALUES (0, 'none');
ALTER TABLE problem ADD COLUMN bias INTEGER NOT NULL DEFAULT 0;
ALTER TABLE problem ADD COLUMN activation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE problem ADD COLUMN residual INTEGER NOT NULL DEFAULT 0;
ALTER TABLE problem ADD COLUMN type_bias INTEGER NOT NULL DEFAULT 0;
ALTER TABLE problem ADD COLUMN ldr INTEGER NOT NULL DEFAULT 0;
ALTER TABLE problem ADD COLUMN stride_r INTEGER NOT NULL DEFAULT 0;
