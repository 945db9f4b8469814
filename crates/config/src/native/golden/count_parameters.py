"""Counts the parameters of published architectures with `transformers`.

Each architecture is given by its Hugging Face configuration, built on the meta
device (no memory is used) and counted; tied matrices count once, buffers not,
except DeepSeek-V3's balancing biases, which its weights hold.

    python count_parameters.py > counts.json     # needs torch and transformers
"""

import json

import torch
import transformers as hf


def llama(layers, hidden, ffn, heads, kv, vocab, tied=False):
    return hf.LlamaConfig(
        num_hidden_layers=layers, hidden_size=hidden, intermediate_size=ffn,
        num_attention_heads=heads, num_key_value_heads=kv, vocab_size=vocab,
        tie_word_embeddings=tied)


def qwen2(layers, hidden, ffn, heads, kv, vocab, tied):
    return hf.Qwen2Config(
        num_hidden_layers=layers, hidden_size=hidden, intermediate_size=ffn,
        num_attention_heads=heads, num_key_value_heads=kv, vocab_size=vocab,
        tie_word_embeddings=tied)


def qwen3(layers, hidden, ffn, heads, kv, tied):
    return hf.Qwen3Config(
        num_hidden_layers=layers, hidden_size=hidden, intermediate_size=ffn, head_dim=128,
        num_attention_heads=heads, num_key_value_heads=kv, vocab_size=151936,
        tie_word_embeddings=tied)


def qwen3_moe(layers, hidden, heads, kv, expert):
    return hf.Qwen3MoeConfig(
        num_hidden_layers=layers, hidden_size=hidden, head_dim=128, num_attention_heads=heads,
        num_key_value_heads=kv, vocab_size=151936, num_experts=128, num_experts_per_tok=8,
        moe_intermediate_size=expert, decoder_sparse_step=1, tie_word_embeddings=False)


def mixtral(layers, hidden, ffn, heads):
    return hf.MixtralConfig(
        num_hidden_layers=layers, hidden_size=hidden, intermediate_size=ffn,
        num_attention_heads=heads, num_key_value_heads=8, vocab_size=32000,
        num_local_experts=8, tie_word_embeddings=False)


def gpt_oss(layers, experts):
    return hf.GptOssConfig(
        num_hidden_layers=layers, hidden_size=2880, intermediate_size=2880, head_dim=64,
        num_attention_heads=64, num_key_value_heads=8, vocab_size=201088,
        num_local_experts=experts, tie_word_embeddings=False)


def deepseek_v2_lite():
    return hf.DeepseekV2Config(
        num_hidden_layers=27, hidden_size=2048, intermediate_size=10944, moe_intermediate_size=1408,
        num_attention_heads=16, num_key_value_heads=16, vocab_size=102400, q_lora_rank=None,
        kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128,
        n_routed_experts=64, n_shared_experts=2, num_experts_per_tok=6, first_k_dense_replace=1,
        tie_word_embeddings=False)


def deepseek_v3():
    return hf.DeepseekV3Config(
        num_hidden_layers=61, hidden_size=7168, intermediate_size=18432, moe_intermediate_size=2048,
        num_attention_heads=128, num_key_value_heads=128, vocab_size=129280, q_lora_rank=1536,
        kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128,
        n_routed_experts=256, n_shared_experts=1, num_experts_per_tok=8, first_k_dense_replace=3,
        tie_word_embeddings=False)


MODELS = {
    "llama2_7B": llama(32, 4096, 11008, 32, 32, 32000),
    "llama2_13B": llama(40, 5120, 13824, 40, 40, 32000),
    "llama2_70B": llama(80, 8192, 28672, 64, 8, 32000),
    "llama3_8B": llama(32, 4096, 14336, 32, 8, 128256),
    "llama3_70B": llama(80, 8192, 28672, 64, 8, 128256),
    "llama3.1_8B": llama(32, 4096, 14336, 32, 8, 128256),
    "llama3.1_70B": llama(80, 8192, 28672, 64, 8, 128256),
    "llama3.1_405B": llama(126, 16384, 53248, 128, 8, 128256),
    "llama3.2_1B": llama(16, 2048, 8192, 32, 8, 128256, tied=True),
    "llama3.2_3B": llama(28, 3072, 8192, 24, 8, 128256, tied=True),
    "llama3.3_70B": llama(80, 8192, 28672, 64, 8, 128256),
    "qwen2.5_0.5B": qwen2(24, 896, 4864, 14, 2, 151936, True),
    "qwen2.5_1.5B": qwen2(28, 1536, 8960, 12, 2, 151936, True),
    "qwen2.5_3B": qwen2(36, 2048, 11008, 16, 2, 151936, True),
    "qwen2.5_7B": qwen2(28, 3584, 18944, 28, 4, 152064, False),
    "qwen2.5_14B": qwen2(48, 5120, 13824, 40, 8, 152064, False),
    "qwen2.5_32B": qwen2(64, 5120, 27648, 40, 8, 152064, False),
    "qwen2.5_72B": qwen2(80, 8192, 29568, 64, 8, 152064, False),
    "qwen3_0.6B": qwen3(28, 1024, 3072, 16, 8, True),
    "qwen3_1.7B": qwen3(28, 2048, 6144, 16, 8, True),
    "qwen3_4B": qwen3(36, 2560, 9728, 32, 8, True),
    "qwen3_8B": qwen3(36, 4096, 12288, 32, 8, False),
    "qwen3_14B": qwen3(40, 5120, 17408, 40, 8, False),
    "qwen3_32B": qwen3(64, 5120, 25600, 64, 8, False),
    "qwen3_30B_A3B": qwen3_moe(48, 2048, 32, 4, 768),
    "qwen3_235B_A22B": qwen3_moe(94, 4096, 64, 4, 1536),
    "mixtral_8x7B_v0.1": mixtral(32, 4096, 14336, 32),
    "mixtral_8x22B_v0.1": mixtral(56, 6144, 16384, 48),
    "gpt_oss_20B": gpt_oss(24, 32),
    "gpt_oss_120B": gpt_oss(36, 128),
    "deepseek_v2_lite": deepseek_v2_lite(),
    "deepseek_v3": deepseek_v3(),
}


def count(config):
    with torch.device("meta"):
        model = hf.AutoModelForCausalLM.from_config(config)
    model.tie_weights()
    parameters = {id(p): p.numel() for p in model.parameters()}
    biases = sum(b.numel() for name, b in model.named_buffers() if "e_score_correction_bias" in name)
    return sum(parameters.values()) + biases


if __name__ == "__main__":
    print(json.dumps({name: count(config) for name, config in MODELS.items()}, indent=1))
