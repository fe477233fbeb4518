#!/usr/bin/env python3
"""Checks what scripts/results_table makes of files: means leave out shapes at which tmm errs more than its peer, marks them and counts them."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "results_table"
HEADING = "# tmm-bench\n# commit: abc\n# date: 2026-01-02T03:04:05Z\n# gpu: NVIDIA H200\n# driver: 1\n"
ROWS = "shape,tmm_us,cublas_us,best_peer,ratio,error,peer_error\n"


def load():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("results_table", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("results_table", loader))
    loader.exec_module(module)
    return module


class Means(unittest.TestCase):
    def run_of(self, rows, head=ROWS):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "list-h200.csv"
            path.write_text(HEADING + head + "".join(rows))
            return load().Run(path)

    def page_of(self, run):
        return load().results_page({"list": {"H200": run}})

    def test_less_accurate_shapes_are_marked_and_left_out(self):
        run = self.run_of(["a,1,2,cublas,2,1.05e-7,1e-7\n", "b,1,8,cublas,8,1.06e-7,1e-7\n", "c,1,8,cublas,8,inf,1e-7\n"])
        self.assertAlmostEqual(run.mean(), 2)
        self.assertEqual(run.left_out(), 2)
        page = self.page_of(run)
        self.assertIn("| H200 | 3 | 2 | – | 2.000 | 2.000 | a |", page)
        self.assertIn("| a | 1 | 2 | 2.000 | 2.000 |", page)
        self.assertIn("| b | 1 | 8 | 8.000 | 8.000* |", page)
        self.assertIn("| c | 1 | 8 | 8.000 | 8.000* |", page)

    def test_the_time_with_another_kernel_between_is_claimed(self):
        head = "shape,tmm_us,cublas_us,best_peer,ratio,tmm_between_us,cublas_between_us,between_ratio\n"
        run = self.run_of(["a,1,2,cublas,2,3,4.5,1.5\n", "b,1,8,cublas,8,2,12,6\n"], head)
        self.assertAlmostEqual(run.mean(), 3)
        self.assertAlmostEqual(run.mean_back_to_back(), 4)
        page = self.page_of(run)
        self.assertIn("| H200 | 2 | 0 | 3.000 | 4.000 | 1.500 | a |", page)
        self.assertIn("| a | 3 | 4.5 | 2.000 | 1.500 |", page)
        self.assertIn("| b | 2 | 12 | 8.000 | 6.000 |", page)

    def test_a_list_without_any_other_has_no_mean(self):
        run = self.run_of(["a,1,2,cublas,2,8e-4,3e-4\n"])
        self.assertIsNone(run.mean())
        self.assertIn("| H200 | 1 | 1 | – | – | 2.000* | a |", self.page_of(run))

    def test_files_without_errors_count_all_shapes(self):
        run = self.run_of(["a,1,2,cublas,2\n", "b,1,8,cublas,8\n"], "shape,tmm_us,cublas_us,best_peer,ratio\n")
        self.assertAlmostEqual(run.mean(), 4)
        self.assertEqual(run.left_out(), 0)


if __name__ == "__main__":
    unittest.main()
