"""Arguments of the wrong kind: one sentence says what to write, and nothing is rounded."""

import numpy as np
import pytest
import tmm_gemm as tmm


def ones(*shape):
    return np.ones(shape, "f")


def tune(shapes, **options):
    return tmm.tune(shapes, **{"gpu": "host", "effort": "quick", "budget": 0.001, **options})


def plan(*sizes, **options):
    return tmm.Plan(*(sizes or (8, 8, 8)), **{"device": "host", **options})


def multiply(**options):
    return tmm.matmul(ones(4, 4), ones(4, 4), **options)


class Stream:
    cuda_stream = 16


class torch_float32:
    """Prints as torch.float32 does."""

    def __repr__(self):
        return "torch.float32"


CASES = [
    (lambda: tune([(16.9, 16, 16)]), "m is 16.9, no whole number"),
    (lambda: tune([(16, 16.0, 16)]), "n is 16.0, no whole number"),
    (lambda: tune([{"m": 16, "n": 16, "k": 16.5}]), "k is 16.5, no whole number"),
    (lambda: tune([(16, 16)]), "three sizes"),
    (lambda: tune([(16, 16, 16, 2)]), "three sizes"),
    (lambda: tune((32, 32, 32)), "[(32, 32, 32)]"),
    (lambda: tune([32, 32]), "a list of shapes"),
    (lambda: tune({"m": 1, "n": 2, "k": 3}), "[{'m': 1, 'n': 2, 'k': 3}]"),
    (lambda: tune(512), "a list of shapes"),
    (lambda: tune("32x32x32"), "['32x32x32']"),
    (lambda: tune("32 32 32 dtype=f16"), "['32 32 32 dtype=f16']"),
    (lambda: tune([{"m": 8, "n": 8, "k": 8, "dtype": np.float32}]), 'write "f32"'),
    (lambda: tune([(8, 8, 8)], gpu="cuda:1"), "write 1"),
    (lambda: tune([(8, 8, 8)], gpu=0.0), "gpu is 0.0"),
    (lambda: tune([(8, 8, 8)], effort="fast"), "quick, normal, full"),
    (lambda: tune([(8, 8, 8)], budget="soon"), "budget is 'soon', no number"),
    (lambda: tmm.winners(gpu=0), "GPU's name"),
    (lambda: plan(8.0, 8, 8), "m is 8.0, no whole number"),
    (lambda: plan("8", 8, 8), "m is '8', no whole number"),
    (lambda: plan(8, 8, 2**64 + 8), "does not fit 64 bits"),
    (lambda: plan(batch=2.5), "batch is 2.5"),
    (lambda: plan(max_workspace=-1), "at least 0"),
    (lambda: plan(max_workspace=1e6), "max_workspace is 1000000.0"),
    (lambda: plan(device="cuda:0"), 'write 0: a GPU is named by its ordinal, a number such as 0, the emulated device by "host"'),
    (lambda: plan(device="cuda"), "write 0"),
    (lambda: plan(device="cpu"), 'write "host"'),
    (lambda: plan(device=-1), '"host"'),
    (lambda: plan(device=0.5), "a number such as 0"),
    (lambda: plan(device=None), "a number such as 0"),
    (lambda: plan(device=2**40), "a number such as 0"),
    (lambda: plan(dtype="float32"), "dtype is 'float32'; write \"f32\""),
    (lambda: plan(dtype=np.float16), 'write "f16"'),
    (lambda: plan(dtype=np.dtype("f")), 'write "f32"'),
    (lambda: plan(dtype=torch_float32()), 'dtype is torch.float32; write "f32"'),
    (lambda: plan(dtype=None), "tmm knows f32, f16, bf16"),
    (lambda: plan(ctype="uint8"), "tmm knows f32, f16, bf16"),
    (lambda: plan(ctype="int8"), 'write "s8"'),
    (lambda: plan(bias_type="half"), "bias_type is 'half'; write \"f16\""),
    (lambda: plan(ops=("n", "t")), "nn, nt, tn, tt"),
    (lambda: plan(compute=32), "f32_strict"),
    (lambda: plan(compute="fp32"), "f32_strict"),
    (lambda: plan(epilogue=["bias", "relu"]), "a str such as 'bias+gelu'"),
    (lambda: multiply(epilogue=3), "a str such as 'bias+gelu'"),
    (lambda: multiply(expression="x * p0", parameters=2.0), "no sequence of numbers: write parameters=[2.0]"),
    (lambda: multiply(expression="x * p0", parameters="12"), "no sequence of numbers"),
    (lambda: multiply(expression="x * p0", parameters=["a"]), "parameters[0] is 'a', no number"),
    (lambda: multiply(expression="x * p0", parameters=np.float32(2)), "no sequence of numbers"),
    (lambda: multiply(alpha="2"), "alpha is '2', no number"),
    (lambda: multiply(alpha=None), "alpha is None, no number"),
    (lambda: multiply(beta=1j), "beta is 1j, no number"),
    (lambda: multiply(stream=Stream()), ".cuda_stream"),
    (lambda: multiply(stream=-5), "no address"),
    (lambda: plan().run(ones(8, 8), ones(8, 8), ones(8, 8), alpha=[1]), "alpha is [1], no number"),
    (lambda: plan(dtype="f64", compute="f32"), "TMM_F64"),
    (lambda: multiply(bias=np.ones(4), epilogue="bias"), "a bias of one of the three"),
    (lambda: tmm.set_tuning("off"), "neither True nor False"),
]


@pytest.mark.parametrize("call, words", CASES, ids=range(len(CASES)))
def test_one_sentence_says_what_is_wrong(call, words):
    with pytest.raises((TypeError, ValueError)) as raised:
        call()
    assert words in str(raised.value) and "\n" not in str(raised.value)


def test_whatever_counts_as_a_whole_number_does():
    plan = tmm.Plan(np.int64(8), np.uint8(8), 8, batch=np.array(1), device="host")
    assert plan.run(ones(8, 8), ones(8, 8), ones(8, 8), alpha=np.float32(0.5), beta=np.array(0.0))[0, 0] == 4
    assert multiply(expression="x * p0", parameters=np.array([2.0]))[0, 0] == 8
    assert multiply(expression="x * p0", parameters=iter([2]))[0, 0] == 8


def test_digits_of_a_text_are_sizes(tmp_path):
    tuned = tmm.tune([("16", 16, np.int32(8))], gpu="host", effort="quick", db=tmp_path / "tmm.db")
    assert [problem["problem"] for problem in tuned] == ["16x16x8"]
