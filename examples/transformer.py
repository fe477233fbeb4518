#!/usr/bin/env python3
"""Trains a transformer of GPT-2's size with PyTorch alone, and says how long a step takes and what the losses are.

It knows nothing of tmm: docs/dropin.md runs it with and without libtmm_cublas.so. The text that it learns is made up: each token follows
from the one before, up to a choice of eight, so that the loss has somewhere to fall.
"""

import argparse
import contextlib
import json
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    """Causal self-attention by two batched products."""

    def __init__(self, width: int, heads: int, context: int):
        super().__init__()
        self.heads = heads
        self.inputs = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)
        self.register_buffer("future", torch.ones(context, context, dtype=torch.bool).triu(1), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        queries, keys, values = (
            part.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for part in self.inputs(x).split(width, dim=2)
        )
        scores = (queries * (width // self.heads) ** -0.5) @ keys.transpose(2, 3)
        weights = functional.softmax(scores.masked_fill(self.future[:length, :length], float("-inf")), dim=-1)
        return self.output((weights.to(values.dtype) @ values).transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, context: int):
        super().__init__()
        self.before_attention, self.attention = nn.LayerNorm(width), Attention(width, heads, context)
        self.before_layers, self.wide, self.narrow = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.before_attention(x))
        return x + self.narrow(functional.gelu(self.wide(self.before_layers(x)), approximate="tanh"))


class Transformer(nn.Module):
    def __init__(self, vocabulary: int, context: int, width: int, layers: int, heads: int):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads, context) for _ in range(layers))
        self.last = nn.LayerNorm(width)
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    def forward(self, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        x = self.tokens(tokens) + self.places.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = functional.linear(self.last(x), self.tokens.weight)
        return functional.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def made_up_text(steps: int, batch: int, length: int, vocabulary: int) -> torch.Tensor:
    random = torch.Generator().manual_seed(1)
    known = min(1000, vocabulary)
    token = torch.randint(known, (steps, batch), generator=random)
    text = [token]
    for _ in range(length):
        token = (token * 31 + torch.randint(8, (steps, batch), generator=random)) % known
        text.append(token)
    return torch.stack(text, dim=2)


class Training:
    """A model in training. step() may be captured as a CUDA graph: it reads and writes the same memory each time."""

    def __init__(self, options: argparse.Namespace):
        self.cuda = options.device.startswith("cuda")
        torch.manual_seed(0)
        model = Transformer(options.vocabulary, options.context, options.width, options.layers, options.heads)
        if options.perturb:
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter *= 1 + options.perturb * (torch.rand_like(parameter) - 0.5)
        self.model = model.to(options.device)
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=options.rate, fused=self.cuda, capturable=self.cuda and options.graph)
        self.text = torch.zeros(options.batch, options.context + 1, dtype=torch.int64, device=options.device)
        self.loss = torch.zeros((), device=options.device)
        self.autocast = (
            contextlib.nullcontext
            if options.dtype == "f32"
            # A cache of converted weights would outlive a captured step.
            else lambda: torch.autocast(options.device.partition(":")[0], torch.bfloat16, cache_enabled=False)
        )

    def step(self) -> None:
        self.optimiser.zero_grad(set_to_none=True)
        with self.autocast():
            loss = self.model(self.text[:, :-1], self.text[:, 1:])
        loss.backward()
        self.optimiser.step()
        self.loss.copy_(loss.detach())


_WARM_UP = 3


def captured(training: Training, text: torch.Tensor, losses: torch.Tensor):
    """The step as a graph, after as many steps as PyTorch wants before a capture, on a stream of their own."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for i in range(_WARM_UP):
            training.text.copy_(text[i])
            training.step()
            losses[i] = training.loss
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    training.optimiser.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        training.step()
    return graph.replay


def train(options: argparse.Namespace) -> dict:
    training = Training(options)
    text = made_up_text(options.steps, options.batch, options.context, options.vocabulary).to(options.device)
    losses = torch.zeros(options.steps, device=options.device)
    step, begin = (captured(training, text, losses), _WARM_UP) if options.graph else (training.step, 0)
    times = []
    for i in range(begin, options.steps):
        if training.cuda:
            times.append(torch.cuda.Event(enable_timing=True))
            times[-1].record()
        else:
            times.append(time.perf_counter())
        training.text.copy_(text[i])
        step()
        losses[i] = training.loss
    values = losses.tolist()
    between = [a.elapsed_time(b) if training.cuda else (b - a) * 1e3 for a, b in zip(times, times[1:])]
    # The first steps compile, load and allocate.
    late = between[min(10, len(between) // 2) :]
    return {
        "device": torch.cuda.get_device_name() if training.cuda else "cpu",
        "options": vars(options),
        "milliseconds_a_step": statistics.median(late) if late else None,
        "milliseconds_of_late_steps": sum(late),
        "late_steps": len(late),
        "losses": values,
    }


def comparison(run: dict, other: dict) -> str:
    ratio = (other["milliseconds_of_late_steps"] / other["late_steps"]) / (run["milliseconds_of_late_steps"] / run["late_steps"])
    apart = [abs(x - y) / abs(y) for x, y in zip(run["losses"], other["losses"])]
    return (
        f"{ratio:.3f} times as fast as the other run ({other['milliseconds_a_step']:.2f} ms a step); "
        f"losses differ by at most {max(apart[:10]):.1e} of their value in 10 steps, {max(apart):.1e} in {len(apart)}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtype", choices=("f32", "bf16"), default="f32", help="bf16: torch.autocast")
    parser.add_argument("--graph", action="store_true", help="capture a step as a CUDA graph and replay it")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--context", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--vocabulary", type=int, default=50304, help="GPT-2 has 50257, here rounded up to whole rows of 64")
    parser.add_argument("--rate", type=float, default=3e-4, help="of learning")
    parser.add_argument("--perturb", type=float, default=0.0, help="scale each weight at the beginning by 1 plus or minus half of this")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--json", metavar="FILE", help="write times and losses")
    parser.add_argument("--against", metavar="FILE", help="compare with what --json has written before")
    options = parser.parse_args()
    run = train(options)
    print(
        f"{run['device']}, {options.dtype}, {'a graph' if options.graph else 'eager'}: {run['milliseconds_a_step']:.2f} ms a step, "
        f"loss {run['losses'][0]:.6f} -> {run['losses'][-1]:.6f}"
    )
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(run, file)
    if options.against:
        with open(options.against, encoding="utf-8") as file:
            print(comparison(run, json.load(file)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
