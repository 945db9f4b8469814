#!/usr/bin/env python3
"""Operator results and gradients from PyTorch in f64.

    python make_ops.py [--check]

One safetensors file per operator, all tensors f64 unless said. `x` names an
input, `dx` the gradient of sum(out * dout) with respect to it. Attributes
(epsilon, scale, betas, ...) are strings in the file's metadata.

  attention_small, attention_long
             q [B,H,S,D], k v [B,K,S,D], out, dout, dq dk dv; lse [B,H,S], the
             natural logarithm of the sum of exp(scale * q.k) over visible keys.
             Causal, H a multiple of K, head h reads KV head h * K / H.
  cross_entropy
             x [N,D], w [V,D], targets i64 [N] with -100 where ignored; logits
             x w^T, lse [N], loss_sum, count i64, loss_mean; dx dw of the mean.
             z_loss_mean is the mean of lse^2, dx_z dw_z its gradients.
  rmsnorm, layernorm
             x [N,D], w [D] (and b [D]), out, dout, dx dw (db).
  swiglu, geglu_erf, geglu_tanh
             gate up [N,F], out = act(gate) * up, dout, dgate dup.
  rope_*     inv_freq [E/2] by the formula of the model's configuration;
             positions i64 [T] and their cos sin [T,E/2]; x [B,H,T,E], out (the
             pairs are (i, i + E/2)), dout, dx.
  adamw      p0 [n], g1 g2 g3, p1 p2 p3 after each step, m3 v3 (moments after
             the last), with the learning rate of each step in the metadata;
             *_wd names the decayed tensor, *_nd the one without decay.
  clip       a b, norm f64 [], a_clipped b_clipped for max_norm in the metadata.

Needs torch and safetensors; transformers only to cross-check inv_freq.
Nothing of Cairn is imported.
"""

import argparse
import math
import pathlib
import sys

import torch
import torch.nn.functional as F
from safetensors import safe_open
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).resolve().parent
G = torch.Generator()


def randn(*shape):
    return torch.randn(*shape, generator=G, dtype=torch.float64)


def with_grads(inputs, call):
    """Tensors named in `inputs`, out, dout and the gradient of each input."""
    leaves = {k: v.clone().requires_grad_() for k, v in inputs.items()}
    out = call(**leaves)
    dout = randn(*out.shape)
    out.backward(dout)
    grads = {f"d{k}": v.grad for k, v in leaves.items()}
    return {**inputs, "out": out.detach(), "dout": dout, **grads}


def attention(b, h, kv, s, d):
    scale = d**-0.5
    inputs = {"q": randn(b, h, s, d), "k": randn(b, kv, s, d), "v": randn(b, kv, s, d)}
    hidden = torch.ones(s, s, dtype=torch.bool).triu(1)

    def scores(q, k):
        return (q @ k.repeat_interleave(h // kv, 1).mT * scale).masked_fill(hidden, -math.inf)

    def call(q, k, v):
        return scores(q, k).softmax(-1) @ v.repeat_interleave(h // kv, 1)

    tensors = with_grads(inputs, call)
    tensors["lse"] = scores(inputs["q"], inputs["k"]).logsumexp(-1)
    # PyTorch's own attention must agree with the formula above.
    own = F.scaled_dot_product_attention(inputs["q"], inputs["k"], inputs["v"], is_causal=True, enable_gqa=True)
    torch.testing.assert_close(own, tensors["out"], rtol=1e-12, atol=1e-12)
    return tensors, {"scale": scale, "causal": "true"}


def cross_entropy():
    n, d, v = 13, 6, 37
    x, w = randn(n, d).requires_grad_(), randn(v, d).requires_grad_()
    targets = torch.randint(0, v, (n,), generator=G)
    targets[torch.tensor([2, 7])] = -100
    targets[0], targets[1] = 0, v - 1
    logits = x @ w.T
    total = F.cross_entropy(logits, targets, ignore_index=-100, reduction="sum")
    mean = F.cross_entropy(logits, targets, ignore_index=-100)
    lse = logits.logsumexp(-1)
    z_mean = (lse[targets != -100] ** 2).mean()
    dx, dw = torch.autograd.grad(mean, (x, w), retain_graph=True)
    dx_z, dw_z = torch.autograd.grad(z_mean, (x, w))
    tensors = {"x": x, "w": w, "targets": targets, "logits": logits, "lse": lse, "loss_sum": total,
               "count": (targets != -100).sum(), "loss_mean": mean, "z_loss_mean": z_mean,
               "dx": dx, "dw": dw, "dx_z": dx_z, "dw_z": dw_z}
    return {k: t.detach() for k, t in tensors.items()}, {"ignore_index": -100}


def rmsnorm():
    inputs = {"x": randn(7, 19) * 3, "w": 1 + 0.5 * randn(19)}
    return with_grads(inputs, lambda x, w: F.rms_norm(x, (19,), w, 1e-5)), {"eps": 1e-5}


def layernorm():
    inputs = {"x": randn(7, 19) * 3 + 1, "w": 1 + 0.5 * randn(19), "b": randn(19)}
    return with_grads(inputs, lambda x, w, b: F.layer_norm(x, (19,), w, b, 1e-5)), {"eps": 1e-5}


def gated(act):
    inputs = {"gate": randn(5, 21) * 2, "up": randn(5, 21)}
    return with_grads(inputs, lambda gate, up: act(gate) * up), {}


def rope(theta, dim, scaling=None):
    """Plain RoPE, or Llama 3's with (factor, low, high, original context)."""
    half = dim // 2
    inv_freq = theta ** (-torch.arange(half, dtype=torch.float64) / half)
    facts = {"theta": theta, "head_dim": dim}
    if scaling:
        factor, low, high, context = scaling
        facts |= {"factor": factor, "low_freq_factor": low, "high_freq_factor": high,
                  "original_max_position_embeddings": context}
        wave = 2 * math.pi / inv_freq
        blend = ((context / wave - low) / (high - low)).clamp(0, 1)
        inv_freq = inv_freq * (blend + (1 - blend) / factor)
    cross_check(inv_freq, facts)
    t, positions = 6, torch.tensor([0.0, 1, 2, 9, 100, 2047], dtype=torch.float64)
    angle = positions[:, None] * inv_freq
    cos, sin = angle.cos(), angle.sin()

    def call(x):
        a, b = x.chunk(2, -1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)

    tensors = {"inv_freq": inv_freq, "positions": positions.long(), "cos": cos, "sin": sin}
    return {**tensors, **with_grads({"x": randn(1, 2, t, dim)}, call)}, facts


def cross_check(inv_freq, facts):
    """inv_freq against transformers' f32 value for the same configuration."""
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    kind = "llama3" if "factor" in facts else "default"
    extra = {k: v for k, v in facts.items() if k not in ("theta", "head_dim")}
    config = LlamaConfig(head_dim=facts["head_dim"], max_position_embeddings=131072,
                         rope_parameters={"rope_type": kind, "rope_theta": facts["theta"], **extra})
    theirs = LlamaRotaryEmbedding(config).inv_freq.double()
    torch.testing.assert_close(theirs, inv_freq, rtol=1e-6, atol=0)


def adamw():
    facts = {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1, "lr": "0.002,0.0015,0.0005"}
    params = {"wd": randn(11).requires_grad_(), "nd": randn(5).requires_grad_()}
    groups = [{"params": [params["wd"]], "weight_decay": 0.1}, {"params": [params["nd"]], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1.0, betas=(0.9, 0.95), eps=1e-8, foreach=False)
    tensors = {f"p0_{k}": p.detach().clone() for k, p in params.items()}
    for step, lr in enumerate(facts["lr"].split(","), 1):
        for group in optimizer.param_groups:
            group["lr"] = float(lr)
        for k, p in params.items():
            p.grad = randn(*p.shape)
            if step == 1:
                p.grad[0] = 0.0  # 0 / (0 + eps): only decay may move it
            tensors[f"g{step}_{k}"] = p.grad.clone()
        optimizer.step()
        tensors |= {f"p{step}_{k}": p.detach().clone() for k, p in params.items()}
    for k, p in params.items():
        tensors[f"m3_{k}"] = optimizer.state[p]["exp_avg"]
        tensors[f"v3_{k}"] = optimizer.state[p]["exp_avg_sq"]
    return tensors, facts


def clip():
    a, b = (torch.nn.Parameter(torch.zeros(*shape, dtype=torch.float64)) for shape in ((9,), (4, 3)))
    a.grad, b.grad = randn(9) * 3, randn(4, 3) * 3
    tensors = {"a": a.grad.clone(), "b": b.grad.clone()}
    norm = torch.nn.utils.clip_grad_norm_([a, b], 1.0)
    return {**tensors, "norm": norm, "a_clipped": a.grad, "b_clipped": b.grad}, {"max_norm": 1.0, "eps": 1e-6}


CASES = {
    "attention_small": lambda: attention(2, 6, 2, 9, 8),
    "attention_long": lambda: attention(1, 2, 1, 70, 8),
    "cross_entropy": cross_entropy,
    "rmsnorm": rmsnorm,
    "layernorm": layernorm,
    "swiglu": lambda: gated(F.silu),
    "geglu_erf": lambda: gated(F.gelu),
    "geglu_tanh": lambda: gated(lambda x: F.gelu(x, approximate="tanh")),
    "rope_plain": lambda: rope(10_000.0, 16),
    "rope_llama31": lambda: rope(500_000.0, 128, (8.0, 1.0, 4.0, 8192)),
    "rope_llama32": lambda: rope(500_000.0, 64, (32.0, 1.0, 4.0, 8192)),
    "adamw": adamw,
    "clip": clip,
}


def compare(path, tensors, facts):
    """Stop unless the file holds these tensors, to 1e-12, and attributes."""
    with safe_open(path, "pt") as stored:
        if stored.metadata() != facts or set(stored.keys()) != tensors.keys():
            sys.exit(f"{path} holds other names or attributes")
        for name, value in tensors.items():
            torch.testing.assert_close(stored.get_tensor(name), value, rtol=1e-12, atol=1e-13)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    args = p.parse_args()
    for seed, (name, make) in enumerate(CASES.items()):
        G.manual_seed(seed)
        tensors, facts = make()
        tensors = {k: t.contiguous() for k, t in tensors.items()}
        facts = {k: str(v) for k, v in facts.items()}
        path = HERE / f"{name}.safetensors"
        if args.check:
            compare(path, tensors, facts)
        else:
            save_file(tensors, path, metadata=facts)
            path.chmod(0o644)
        print(f"{name}: {', '.join(tensors)}")


if __name__ == "__main__":
    main()
