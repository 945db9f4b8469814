#!/usr/bin/env python3
"""Make small random models of each family with Hugging Face `transformers`.

    python make_hf.py [--check] [FAMILY...]

Each folder beside this script then holds
  config.json                as transformers 5 saves it (rope_parameters, dtype)
  config.v4.json             the same with the keys of older files, which most
                             published models use (rope_theta, rope_scaling,
                             torch_dtype)
  model.safetensors          f32 weights under Hugging Face's names
  expected.safetensors       input_ids i64 [2, 17]; logits f32 [2, 17, V]
  expected_grads.safetensors loss f64 [], and the gradient of that loss for the
                             parameters listed in GRADS, f32, under their names

The loss is the mean cross entropy in nats of predicting input_ids[:, 1:] from
input_ids[:, :-1], 2 x 16 predictions. Logits, loss and gradients are computed
in f64 from the f32 weights (transformers' attention "eager") and then rounded,
so they carry no error of a fast kernel. `--check` recomputes everything and
compares it with the files instead of writing them. Made with the versions in
the file made_with.json. Needs: torch, transformers, safetensors. Nothing of
Cairn is imported.
"""

import argparse
import json
import math
import pathlib
import shutil
import sys
import tempfile

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import LlamaConfig, Qwen2Config, Qwen3Config

HERE = pathlib.Path(__file__).resolve().parent
BASE = dict(vocab_size=128, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
            max_position_embeddings=1024, bos_token_id=1, eos_token_id=2)

# family folder -> configuration. Sizes differ on purpose, so that a swapped
# pair of dimensions cannot pass.
FAMILIES = {
    # Multi-head attention, RoPE base 10,000, epsilon 1e-5.
    "llama2": lambda: LlamaConfig(**BASE, intermediate_size=40, num_key_value_heads=4, rms_norm_eps=1e-5,
                                  rope_parameters=dict(rope_type="default", rope_theta=10000.0),
                                  tie_word_embeddings=False),
    # Grouped queries with Llama-3.1's frequency scaling. The original context is
    # small so that the few frequencies of a small head fall into all three bands.
    "llama31": lambda: LlamaConfig(**BASE, intermediate_size=40, num_key_value_heads=2, rms_norm_eps=1e-5,
                                   rope_parameters=dict(rope_type="llama3", rope_theta=500000.0, factor=8.0,
                                                        low_freq_factor=1.0, high_freq_factor=4.0,
                                                        original_max_position_embeddings=64),
                                   tie_word_embeddings=False),
    # Tied embeddings, head width given and unlike hidden / heads, three layers.
    "llama32": lambda: LlamaConfig(**{**BASE, "num_hidden_layers": 3}, intermediate_size=48, num_key_value_heads=1,
                                   head_dim=8, rms_norm_eps=1e-5,
                                   rope_parameters=dict(rope_type="llama3", rope_theta=500000.0, factor=32.0,
                                                        low_freq_factor=1.0, high_freq_factor=4.0,
                                                        original_max_position_embeddings=256),
                                   tie_word_embeddings=True),
    # Biases on q, k and v only.
    "qwen2_tied": lambda: Qwen2Config(**BASE, intermediate_size=40, num_key_value_heads=2, rms_norm_eps=1e-6,
                                      rope_parameters=dict(rope_type="default", rope_theta=1000000.0),
                                      tie_word_embeddings=True),
    "qwen2_untied": lambda: Qwen2Config(**BASE, intermediate_size=40, num_key_value_heads=1, rms_norm_eps=1e-6,
                                        rope_parameters=dict(rope_type="default", rope_theta=1000000.0),
                                        tie_word_embeddings=False),
    # Norms on q and k per head; head width 24, not 64 / 4.
    "qwen3": lambda: Qwen3Config(**BASE, intermediate_size=40, num_key_value_heads=2, head_dim=24,
                                 rms_norm_eps=1e-6, rope_parameters=dict(rope_type="default", rope_theta=1000000.0),
                                 tie_word_embeddings=False),
    "qwen3_tied": lambda: Qwen3Config(**BASE, intermediate_size=40, num_key_value_heads=4, head_dim=12,
                                      rms_norm_eps=1e-6, rope_parameters=dict(rope_type="default", rope_theta=1000000.0),
                                      tie_word_embeddings=True),
}

# Gradients that are kept: all small ones, and one matrix of each kind.
GRADS = ("norm.weight", "layernorm.weight", ".bias", "embed_tokens.weight", "lm_head.weight",
         "layers.0.self_attn.q_proj.weight", "layers.0.self_attn.k_proj.weight",
         "layers.0.self_attn.v_proj.weight", "layers.1.self_attn.o_proj.weight",
         "layers.0.mlp.gate_proj.weight", "layers.1.mlp.up_proj.weight", "layers.1.mlp.down_proj.weight")


def rope_bands(config):
    """How many frequencies Llama-3 scaling keeps, blends and divides."""
    rope = config.rope_parameters
    half = config.head_dim // 2
    waves = [2 * math.pi * rope["rope_theta"] ** (i / half) for i in range(half)]
    context = rope["original_max_position_embeddings"]
    short, long = context / rope["high_freq_factor"], context / rope["low_freq_factor"]
    return sum(w < short for w in waves), sum(short <= w <= long for w in waves), sum(w > long for w in waves)


def old_config(path):
    """The keys of transformers 4 for a config.json of transformers 5."""
    config = json.loads(path.read_text())
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    config["rope_scaling"] = None if rope["rope_type"] == "default" else rope
    config["torch_dtype"] = config.pop("dtype")
    config["transformers_version"] = "4.46.0"
    return json.dumps(config, indent=2, sort_keys=True) + "\n"


def build(name):
    """The model of one family in f32, every parameter random and non-trivial."""
    config = FAMILIES[name]()
    if config.rope_parameters["rope_type"] == "llama3" and 0 in rope_bands(config):
        sys.exit(f"{name}: the scaling leaves a band empty: {rope_bands(config)}")
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.config.architectures = [type(model).__name__]
    generator = torch.Generator().manual_seed(1000 + list(FAMILIES).index(name))
    with torch.no_grad():
        for parameter_name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator, dtype=torch.float64)
            if parameter_name.endswith("norm.weight"):
                p.copy_(1 + 0.3 * noise)
            elif parameter_name.endswith(".bias"):
                p.copy_(0.5 * noise)
            else:
                p.copy_(noise * 1.2 / p.shape[-1] ** 0.5)
    return model.eval(), generator


def expected(model, generator):
    """(input_ids and logits, loss and gradients), computed in f64."""
    model = model.double()
    ids = torch.randint(0, BASE["vocab_size"], (2, 17), generator=generator)
    logits = model(input_ids=ids).logits
    loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    loss.backward()
    grads = {"loss": loss.detach()}
    for name, p in model.named_parameters():
        if name.endswith(GRADS):
            if p.grad is None or not p.grad.any():
                sys.exit(f"the gradient of {name} is missing or all zero")
            grads[name] = p.grad.float().contiguous()
    return {"input_ids": ids, "logits": logits.detach().float().contiguous()}, grads


def f32_error(folder, config, outputs):
    """Largest logit error when the files are loaded the way a user's would be."""
    with tempfile.TemporaryDirectory() as scratch, torch.no_grad():
        shutil.copy(folder / config, pathlib.Path(scratch) / "config.json")
        shutil.copy(folder / "model.safetensors", scratch)
        model = transformers.AutoModelForCausalLM.from_pretrained(scratch, dtype=torch.float32)
        return (model(input_ids=outputs["input_ids"]).logits - outputs["logits"]).abs().max().item()


def compare(path, tensors):
    """Stop unless the file holds the same names, and values within f32 rounding."""
    stored = load_file(path)
    if stored.keys() != tensors.keys():
        sys.exit(f"{path} holds {sorted(stored)}, expected {sorted(tensors)}")
    for name, value in tensors.items():
        try:
            torch.testing.assert_close(stored[name], value, rtol=1e-6, atol=1e-7)
        except AssertionError as error:
            sys.exit(f"{path}: {name}: {error}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    p.add_argument("family", nargs="*", help=f"of {', '.join(FAMILIES)}; default: all")
    args = p.parse_args()
    transformers.utils.logging.disable_progress_bar()
    unknown = set(args.family) - FAMILIES.keys()
    if unknown:
        p.error(f"unknown family: {', '.join(sorted(unknown))}")
    for name in args.family or FAMILIES:
        folder = HERE / name
        model, generator = build(name)
        weights = {k: v.detach().clone() for k, v in model.named_parameters()}
        outputs, grads = expected(model, generator)
        if args.check:
            compare(folder / "model.safetensors", weights)
            compare(folder / "expected.safetensors", outputs)
            compare(folder / "expected_grads.safetensors", grads)
        else:
            folder.mkdir(exist_ok=True)
            model.float().config.to_json_file(folder / "config.json", use_diff=True)
            (folder / "config.v4.json").write_text(old_config(folder / "config.json"))
            save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
            save_file(outputs, folder / "expected.safetensors")
            save_file(grads, folder / "expected_grads.safetensors")
            for file in folder.iterdir():
                file.chmod(0o644)
        error = max(f32_error(folder, config, outputs) for config in ("config.json", "config.v4.json"))
        count = sum(w.numel() for w in weights.values())
        print(f"{name}: {count} parameters, loss {grads['loss'].item():.6f}, "
              f"transformers' f32 logits within {error:.1e} of these")
        if error > 1e-4:
            sys.exit(f"{name}: the f32 logits of the saved model differ by {error}")
    if not args.check:
        versions = {"torch": torch.__version__, "transformers": transformers.__version__}
        (HERE / "made_with.json").write_text(json.dumps(versions, indent=2) + "\n")


if __name__ == "__main__":
    main()
