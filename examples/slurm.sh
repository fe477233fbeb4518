#!/bin/bash
# A Slurm array that tunes one list of shapes on 16 GPUs, each job a part of it:
#     sbatch examples/slurm.sh shapes.txt
# A part that was killed goes on where it stopped when it is submitted again, alone: sbatch --array=3 examples/slurm.sh shapes.txt
# Status 6 says that some problem of the part has no winner, which running again does not change; all others are tuned.
# Another number of parts is said twice: PARTS=32 sbatch --array=0-31 examples/slurm.sh shapes.txt
# When all have ended, `tmm-db merge --db tmm.db tmm-part-*.db` joins what they found.
#SBATCH --array=0-15
#SBATCH --gpus=1
#SBATCH --cpus-per-task=16
# Two minutes before its time is over a part is interrupted, and ends orderly; one whose node fails is queued again.
#SBATCH --signal=B:INT@120
#SBATCH --requeue
set -euo pipefail
# Slurm's own number of tasks is 1 where one part is submitted again.
parts=${PARTS:-16}
part=$SLURM_ARRAY_TASK_ID
if ((part >= parts)); then
    echo "there is no part $part of $parts, which count from 0: set PARTS to the number of parts" >&2
    exit 1
fi
exec tmm-tune --gpu "${TMM_GPU:-0}" --shapes "$1" --shard "$part/$parts" --db "tmm-part-$part.db"
