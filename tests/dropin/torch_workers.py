"""Worker processes beside products on a GPU: threads multiply while a DataLoader forks its workers, again and again, and each worker multiplies
on the CPU. The program knows nothing of tmm: scripts/test_dropin runs it with both libraries loaded first. Ends with 1 where a result is wrong;
where something hangs, whoever runs it ends it.

torch_workers.py [--device cuda|cpu] [--rounds N]
"""

import argparse
import sys
import threading

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

# Large enough for a GPU to be worth its copies.
SIZE = 160


class Products(Dataset):
    """Item i is the sum of a product of matrices of ones, which is known."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, item: int) -> float:
        ones = np.ones((SIZE, SIZE + item), np.float32)
        return float((ones @ ones.T).sum() + torch.from_numpy(ones).matmul(torch.from_numpy(ones.T)).sum())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    a = torch.randint(-3, 4, (256, 256), device=options.device).float()
    expected = (a.double() @ a.double()).float()
    ended = threading.Event()
    faults = []

    def multiply() -> None:
        while not ended.is_set():
            if not torch.equal(a @ a, expected):
                faults.append("a product of the parent's")

    threads = [threading.Thread(target=multiply) for _ in range(2)]
    for thread in threads:
        thread.start()
    known = [2.0 * SIZE * SIZE * (SIZE + item) for item in range(8)]
    for _ in range(options.rounds):
        got = [value for batch in DataLoader(Products(), num_workers=2, multiprocessing_context="fork") for value in batch.tolist()]
        if got != known:
            faults.append(f"a worker's products: {got}")
            break
    ended.set()
    for thread in threads:
        thread.join()
    print(f"{options.rounds} times 2 workers, {len(faults)} faults", *faults[:3])
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
