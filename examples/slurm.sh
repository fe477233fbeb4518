#!/bin/bash
# A Slurm array that tunes one list of shapes on 16 GPUs, each job a part of it:
#     sbatch examples/slurm.sh shapes.txt
# A job that was killed goes on where it stopped when it is submitted again (sbatch --array=3 examples/slurm.sh shapes.txt).
# When all have ended, `tmm-db merge --db tmm.db tmm-part-*.db` joins what they found.
#SBATCH --array=0-15
#SBATCH --gpus=1
#SBATCH --cpus-per-task=16
set -euo pipefail
exec tmm-tune --gpu "${TMM_GPU:-0}" --shapes "$1" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --db "tmm-part-$SLURM_ARRAY_TASK_ID.db"
