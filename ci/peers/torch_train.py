#!/usr/bin/env python3
"""Train a Llama-style model with PyTorch on the CPU and report its speed.

The peer of `cargo xtask bench train --peer torch --python PY`: same shape,
same optimizer, same number of tokens. Prints one JSON object to stdout and
progress to stderr. See README.md for the arguments and for the environment
that makes glibc keep freed memory.
"""

import argparse
import contextlib
import json
import math
import os
import resource
import statistics
import sys
import time


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--dim", type=int, default=512)
    p.add_argument("--layers", type=int, default=8)
    p.add_argument("--heads", type=int, default=8)
    p.add_argument("--kv-heads", type=int, help="default: as many as --heads")
    p.add_argument("--ffn", type=int, default=1408)
    p.add_argument("--vocab", type=int, default=4096)
    p.add_argument("--seq", type=int, default=512)
    p.add_argument("--batch", type=int, default=4, help="sequences a step")
    p.add_argument("--steps", type=int, default=8)
    p.add_argument("--skip", type=int, default=2, help="first steps left out of the median")
    p.add_argument("--dtype", choices=["f32", "bf16-autocast"], default="f32")
    p.add_argument("--threads", type=int, default=0, help="0: as PyTorch chooses")
    p.add_argument("--compile", action="store_true", help="torch.compile (needs a C++ compiler)")
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--min-lr", type=float, help="default: a tenth of --lr")
    p.add_argument("--warmup", type=int, default=0, help="steps of linear warm-up")
    p.add_argument("--weight-decay", type=float, default=0.1)
    p.add_argument("--beta1", type=float, default=0.9)
    p.add_argument("--beta2", type=float, default=0.95)
    p.add_argument("--eps", type=float, default=1e-8)
    p.add_argument("--clip", type=float, default=1.0)
    p.add_argument("--init-std", type=float, default=0.02)
    p.add_argument("--rope-theta", type=float, default=10_000.0)
    p.add_argument("--norm-eps", type=float, default=1e-5)
    p.add_argument("--seed", type=int, default=1234)
    p.add_argument("--init", metavar="FILE", help="initial weights: safetensors with Hugging Face names")
    p.add_argument("--data", metavar="FILE", help="training tokens, raw little-endian u16 (a Megatron .bin of that type)")
    p.add_argument("--val-data", metavar="FILE", help="held-out tokens, same form")
    p.add_argument("--rows", action="store_true",
                   help="the files hold sequences of --seq + 1 tokens, to be taken in order and all of them")
    p.add_argument("--val-chars", type=int, help="characters in the text of --val-data, to give bits per character")
    p.add_argument("--eval-interval", type=int, default=100)
    p.add_argument("--eval-iters", type=int, default=10, help="held-out batches per evaluation; 0: all of them")
    p.add_argument("--json", action="store_true", help="JSON only, no progress on stderr")
    return p.parse_args()


class Tokens:
    """Random windows from a file of u16 tokens; fixed random tokens without one."""

    def __init__(self, path, args, torch, numpy):
        self.torch, self.numpy, self.args = torch, numpy, args
        self.rng = numpy.random.default_rng(args.seed)
        self.tokens = numpy.memmap(path, dtype="<u2", mode="r") if path else None
        self.next_row = 0
        if path and len(self.tokens) <= args.seq:
            sys.exit(f"{path} holds {len(self.tokens)} tokens, too few for sequences of {args.seq}")
        if path and int(self.tokens.max()) >= args.vocab:
            sys.exit(f"{path} has token {int(self.tokens.max())}, the vocabulary is {args.vocab}")

    def _pair(self, rows):
        rows = self.torch.from_numpy(rows.astype("int64"))
        return rows[:, :-1].contiguous(), rows[:, 1:].contiguous()

    def batch(self):
        """One training batch: inputs and targets, each i64 [B, T]."""
        a = self.args
        if self.tokens is None:
            return self._pair(self.rng.integers(0, a.vocab, (a.batch, a.seq + 1)))
        if a.rows:
            rows = self._rows()[self.next_row : self.next_row + a.batch]
            if len(rows) < a.batch:
                sys.exit(f"{a.data} holds too few sequences for {a.steps} steps of {a.batch}")
            self.next_row += a.batch
            return self._pair(rows)
        starts = self.rng.integers(0, len(self.tokens) - a.seq, a.batch)
        return self._pair(self.numpy.stack([self.tokens[s : s + a.seq + 1] for s in starts]))

    def _rows(self):
        """The file as sequences, each [T + 1]."""
        width = self.args.seq + 1
        if len(self.tokens) % width:
            sys.exit(f"{len(self.tokens)} tokens are no sequences of {width}")
        return self.tokens.reshape(-1, width)

    def windows(self, limit):
        """Held-out batches: evenly spread windows, the same ones on every call."""
        a = self.args
        if a.rows:
            for i in range(0, len(self._rows()), a.batch):
                yield self._pair(self._rows()[i : i + a.batch])
            return
        count = (len(self.tokens) - 1) // a.seq
        picks = self.numpy.arange(count)
        if limit and limit * a.batch < count:
            picks = self.numpy.linspace(0, count - 1, limit * a.batch).astype("int64")
        for i in range(0, len(picks), a.batch):
            starts = picks[i : i + a.batch] * a.seq
            yield self._pair(self.numpy.stack([self.tokens[s : s + a.seq + 1] for s in starts]))


def learning_rate(step, args):
    """Linear warm-up, then cosine to the minimum. `step` counts from 1."""
    low = args.lr / 10 if args.min_lr is None else args.min_lr
    if step <= args.warmup:
        return args.lr * step / args.warmup
    done = (step - args.warmup) / max(1, args.steps - args.warmup)
    return low + (args.lr - low) * 0.5 * (1 + math.cos(math.pi * done))


def make_optimizer(model, args, torch):
    """Fused AdamW; matrices decay, norm weights do not."""
    params = list(model.parameters())
    groups = [
        {"params": [p for p in params if p.ndim >= 2], "weight_decay": args.weight_decay},
        {"params": [p for p in params if p.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=args.lr, betas=(args.beta1, args.beta2), eps=args.eps, fused=True)


def evaluate(model, data, args, torch, autocast):
    """Mean held-out loss in nats a token."""
    total, count = 0.0, 0
    with torch.no_grad():
        for inputs, targets in data.windows(args.eval_iters):
            with autocast():
                total += model(inputs, targets).item() * targets.numel()
            count += targets.numel()
    return total / count


def bits_per_char(loss, data, args):
    """Nats a token -> bits a character of the held-out text."""
    return loss / math.log(2) * len(data.tokens) / args.val_chars


def train(model, args, torch, numpy):
    """Run all steps; returns what was measured in each."""
    autocast = contextlib.nullcontext
    if args.dtype == "bf16-autocast":
        autocast = lambda: torch.autocast("cpu", dtype=torch.bfloat16)  # noqa: E731
    data = Tokens(args.data, args, torch, numpy)
    held_out = Tokens(args.val_data, args, torch, numpy) if args.val_data else None
    optimizer = make_optimizer(model, args, torch)
    run = torch.compile(model) if args.compile else model
    step_ms, cpu_ms, losses, norms, evals = [], [], [], [], []
    for step in range(1, args.steps + 1):
        begin, cpu = time.perf_counter(), time.process_time()
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, args)
        inputs, targets = data.batch()
        with autocast():
            loss = run(inputs, targets)
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip).item())
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss.item())
        step_ms.append((time.perf_counter() - begin) * 1e3)
        cpu_ms.append((time.process_time() - cpu) * 1e3)
        if not args.json:
            print(f"step {step} loss {losses[-1]:.4f} {step_ms[-1]:.0f} ms", file=sys.stderr)
        if held_out and (step % args.eval_interval == 0 or step == args.steps):
            entry = {"step": step, "val_loss": evaluate(run, held_out, args, torch, autocast)}
            if args.val_chars:
                entry["val_bits_per_char"] = bits_per_char(entry["val_loss"], held_out, args)
            evals.append(entry)
    return step_ms, cpu_ms, losses, norms, evals


def main():
    args = parse_arguments()
    args.kv_heads = args.kv_heads or args.heads
    started = time.perf_counter()
    import numpy
    import torch

    from torch_llama import Llama, Shape

    import_s = time.perf_counter() - started
    if args.threads:
        torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    shape = Shape(args.dim, args.layers, args.heads, args.kv_heads, args.ffn, args.vocab, args.seq,
                  args.rope_theta, args.norm_eps)
    try:
        model = Llama(shape, args.init_std)
    except ValueError as error:
        sys.exit(str(error))
    if args.init:
        from safetensors.torch import load_file

        model.load_state_dict(load_file(args.init))

    begin = time.perf_counter()
    step_ms, cpu_ms, losses, norms, evals = train(model, args, torch, numpy)
    train_s = time.perf_counter() - begin
    kept = step_ms[args.skip :] or step_ms
    median_ms = statistics.median(kept)
    tokens = args.batch * args.seq
    print(json.dumps({
        "peer": "torch",
        "torch": torch.__version__,
        "capability": torch.backends.cpu.get_cpu_capability(),
        "dtype": args.dtype,
        "compile": args.compile,
        "threads": torch.get_num_threads(),
        "tuned_malloc": sorted(k for k in os.environ if k.startswith("MALLOC_")),
        "parameters": sum(p.numel() for p in model.parameters()),
        "flops_per_token": shape.flops_per_token(),
        "tokens_per_step": tokens,
        "steps": args.steps,
        "skipped_steps": min(args.skip, max(0, args.steps - len(kept))),
        "step_ms": [round(ms, 3) for ms in step_ms],
        # CPU time of all threads: with one thread it shows what a busy machine hid.
        "step_cpu_ms": [round(ms, 3) for ms in cpu_ms],
        "median_step_ms": round(median_ms, 3),
        "best_step_ms": round(min(kept), 3),
        "tokens_per_s": round(tokens / median_ms * 1e3, 2),
        "best_tokens_per_s": round(tokens / min(kept) * 1e3, 2),
        "gflops": round(tokens / median_ms * shape.flops_per_token() / 1e6, 2),
        "first_step_ms": round(step_ms[0], 3),
        "import_s": round(import_s, 3),
        "train_s": round(train_s, 3),
        # Linux reports kibibytes.
        "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "losses": losses,
        "grad_norms": norms,
        "evals": evals,
    }))


if __name__ == "__main__":
    main()
