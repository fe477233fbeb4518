-- Version 9: a decision keeps the times of the default config and of the runner-up that stood in the same run-off, and says where
-- nothing was measured. Tables are made anew behind every migration, which gives these the checks that schema.sql has since.
ALTER TABLE selection ADD COLUMN default_us REAL CHECK (default_us > 0);
ALTER TABLE selection ADD COLUMN runner_up_config_id INTEGER REFERENCES config (id);
ALTER TABLE selection ADD COLUMN runner_up_us REAL CHECK (runner_up_us > 0);
ALTER TABLE selection ADD COLUMN predicted INTEGER NOT NULL DEFAULT 0 CHECK (predicted IN (0, 1));
