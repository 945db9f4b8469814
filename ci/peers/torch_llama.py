"""A Llama decoder in plain PyTorch: the model that torch_train.py trains.

Shapes are written as B (batch), T (sequence), D (model width), H (heads),
K (key/value heads), E (head width), F (feed-forward width), V (vocabulary).
Parameter names are those of Hugging Face's Llama checkpoints, so a
safetensors file of such a model loads by name.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class Shape:
    """The numbers that define the model."""

    dim: int
    layers: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int
    seq: int
    rope_theta: float = 10_000.0
    norm_eps: float = 1e-5

    def check(self):
        """Raise ValueError when the numbers contradict each other."""
        if min(self.dim, self.layers, self.heads, self.kv_heads, self.ffn, self.vocab, self.seq) < 1:
            raise ValueError("every size must be at least 1")
        if self.dim % self.heads:
            raise ValueError(f"dim {self.dim} is not divisible by {self.heads} heads")
        if self.heads % self.kv_heads:
            raise ValueError(f"{self.heads} heads are not divisible by {self.kv_heads} KV heads")
        if (self.dim // self.heads) % 2:
            raise ValueError(f"RoPE needs an even head width, not {self.dim // self.heads}")

    @property
    def head_dim(self):
        return self.dim // self.heads

    def flops_per_token(self):
        """Forward + backward FLOPs of one token: 6 per matmul weight, plus
        causal attention (half of the T x T products)."""
        kv_dim = self.kv_heads * self.head_dim
        layer = 2 * self.dim * self.dim + 2 * self.dim * kv_dim + 3 * self.dim * self.ffn
        matmul = self.layers * layer + self.dim * self.vocab
        attention = self.layers * 2 * self.dim * self.seq // 2
        return 6 * (matmul + attention)


def rope_tables(shape):
    """cos and sin of the rotary angles, each [T, E/2], in f32."""
    half = shape.head_dim // 2
    freq = shape.rope_theta ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = torch.arange(shape.seq, dtype=torch.float64)[:, None] * freq[None, :]
    return angle.cos().float(), angle.sin().float()


def rotate(x_bhte, cos_te, sin_te):
    """Rotate the pairs (i, i + E/2) of each head, the order Hugging Face stores."""
    first, second = x_bhte.chunk(2, dim=-1)
    cos_te, sin_te = cos_te.to(x_bhte.dtype), sin_te.to(x_bhte.dtype)
    return torch.cat((first * cos_te - second * sin_te, second * cos_te + first * sin_te), dim=-1)


class Attention(nn.Module):
    """Causal grouped-query attention."""

    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        kv_dim = shape.kv_heads * shape.head_dim
        self.q_proj = nn.Linear(shape.dim, shape.dim, bias=False)
        self.k_proj = nn.Linear(shape.dim, kv_dim, bias=False)
        self.v_proj = nn.Linear(shape.dim, kv_dim, bias=False)
        self.o_proj = nn.Linear(shape.dim, shape.dim, bias=False)

    def forward(self, x_btd, cos_te, sin_te):
        b, t, d = x_btd.shape
        s = self.shape
        q_bhte = self.q_proj(x_btd).view(b, t, s.heads, s.head_dim).transpose(1, 2)
        k_bkte = self.k_proj(x_btd).view(b, t, s.kv_heads, s.head_dim).transpose(1, 2)
        v_bkte = self.v_proj(x_btd).view(b, t, s.kv_heads, s.head_dim).transpose(1, 2)
        q_bhte, k_bkte = rotate(q_bhte, cos_te, sin_te), rotate(k_bkte, cos_te, sin_te)
        o_bhte = F.scaled_dot_product_attention(
            q_bhte, k_bkte, v_bkte, is_causal=True, enable_gqa=s.heads != s.kv_heads
        )
        return self.o_proj(o_bhte.transpose(1, 2).reshape(b, t, d))


class Mlp(nn.Module):
    """SwiGLU feed-forward."""

    def __init__(self, shape):
        super().__init__()
        self.gate_proj = nn.Linear(shape.dim, shape.ffn, bias=False)
        self.up_proj = nn.Linear(shape.dim, shape.ffn, bias=False)
        self.down_proj = nn.Linear(shape.ffn, shape.dim, bias=False)

    def forward(self, x_btd):
        return self.down_proj(F.silu(self.gate_proj(x_btd)) * self.up_proj(x_btd))


class Block(nn.Module):
    """One decoder layer, pre-norm with two residual branches."""

    def __init__(self, shape):
        super().__init__()
        self.input_layernorm = nn.RMSNorm(shape.dim, eps=shape.norm_eps)
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = nn.RMSNorm(shape.dim, eps=shape.norm_eps)
        self.mlp = Mlp(shape)

    def forward(self, x_btd, cos_te, sin_te):
        x_btd = x_btd + self.self_attn(self.input_layernorm(x_btd), cos_te, sin_te)
        return x_btd + self.mlp(self.post_attention_layernorm(x_btd))


class Decoder(nn.Module):
    """Embedding, layers and final norm: everything below the output projection."""

    def __init__(self, shape):
        super().__init__()
        self.embed_tokens = nn.Embedding(shape.vocab, shape.dim)
        self.layers = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.dim, eps=shape.norm_eps)
        cos_te, sin_te = rope_tables(shape)
        self.register_buffer("cos_te", cos_te, persistent=False)
        self.register_buffer("sin_te", sin_te, persistent=False)

    def forward(self, tokens_bt):
        t = tokens_bt.shape[1]
        x_btd = self.embed_tokens(tokens_bt)
        for layer in self.layers:
            x_btd = layer(x_btd, self.cos_te[:t], self.sin_te[:t])
        return self.norm(x_btd)


class Llama(nn.Module):
    """Decoder with an untied output projection."""

    def __init__(self, shape, init_std=0.02):
        super().__init__()
        shape.check()
        self.model = Decoder(shape)
        self.lm_head = nn.Linear(shape.dim, shape.vocab, bias=False)
        # Normal weights, with the two projections that write into the residual
        # stream scaled down by sqrt(2 * layers) (GPT-2, Megatron).
        for name, weight in self.named_parameters():
            if weight.ndim < 2:
                continue
            residual = name.endswith(("o_proj.weight", "down_proj.weight"))
            std = init_std / math.sqrt(2 * shape.layers) if residual else init_std
            nn.init.normal_(weight, std=std)

    def forward(self, tokens_bt, targets_bt):
        """Mean next-token cross entropy in nats, with f32 log-softmax."""
        logits_btv = self.lm_head(self.model(tokens_bt))
        return F.cross_entropy(logits_btv.flatten(0, 1).float(), targets_bt.flatten())
