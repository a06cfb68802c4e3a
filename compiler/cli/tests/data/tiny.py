"""Writes tiny-{llama,qwen2,qwen3}.gguf, models of random weights, and tiny.json: logits that numpy computes from them.

    pip install gguf==0.19.0 && python tiny.py [FOLDER]

With a folder they go there, and take 2,048 tokens in place of 64.
The forward pass below is written from the papers and shares nothing with the converter.
"""

import json
import pathlib
import sys

import gguf
import numpy as np

HERE = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
HIDDEN, HEADS, KV, INNER, LAYERS, CONTEXT = 64, 4, 2, 64, 2, 2048 if len(sys.argv) > 1 else 64
EPSILON, BASE = 1e-5, 10_000.0
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if tools %}{{ tools }}{% endif %}"
TOKENS = [72, 101, 110, 3, 200, 72]


def letters():
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {**{byte: chr(byte) for byte in plain}, **{byte: chr(256 + at) for at, byte in enumerate(others)}}


def norm(x, weight):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * weight


def rotate(x, interleaved):
    """x: [tokens, heads, head]"""
    half = x.shape[-1] // 2
    angles = np.arange(x.shape[0])[:, None] / BASE ** (2 * np.arange(half) / x.shape[-1])
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    c, d = a * cos - b * sin, a * sin + b * cos
    return np.stack([c, d], -1).reshape(x.shape) if interleaved else np.concatenate([c, d], -1)


def forward(kind, head, w, tokens):
    x = w["token_embd.weight"][tokens]
    for layer in range(LAYERS):
        part = lambda name: w[f"blk.{layer}.{name}"]
        y = norm(x, part("attn_norm.weight"))
        q, k, v = (y @ part(f"attn_{n}.weight").T for n in "qkv")
        if kind == "qwen2":
            q, k, v = q + part("attn_q.bias"), k + part("attn_k.bias"), v + part("attn_v.bias")
        q, k, v = (z.reshape(len(tokens), -1, head) for z in (q, k, v))
        if kind == "qwen3":
            q, k = norm(q, part("attn_q_norm.weight")), norm(k, part("attn_k_norm.weight"))
        q, k = rotate(q, kind == "llama"), rotate(k, kind == "llama")
        out = np.zeros_like(q)
        for h in range(HEADS):
            scores = q[:, h] @ k[:, h // (HEADS // KV)].T / np.sqrt(head)
            scores[np.triu_indices(len(tokens), 1)] = -np.inf
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            out[:, h] = scores / scores.sum(-1, keepdims=True) @ v[:, h // (HEADS // KV)]
        x = x + out.reshape(len(tokens), -1) @ part("attn_output.weight").T
        y = norm(x, part("ffn_norm.weight"))
        gate = y @ part("ffn_gate.weight").T
        x = x + (gate / (1 + np.exp(-gate)) * (y @ part("ffn_up.weight").T)) @ part("ffn_down.weight").T
    return norm(x, w["output_norm.weight"])[-1] @ w["token_embd.weight"].T


expected = {}
for kind, head, pre in [("llama", 16, "gpt-2"), ("qwen2", 16, "qwen2"), ("qwen3", 32, "qwen2")]:
    random = np.random.default_rng(7)
    draw = lambda *shape: random.normal(scale=0.2, size=shape).astype(np.float32)
    vocabulary = [*letters().values(), "<|im_start|>", "<|im_end|>", "He", "en"]
    weights = {"token_embd.weight": draw(len(vocabulary), HIDDEN), "output_norm.weight": 1 + draw(HIDDEN)}
    for layer in range(LAYERS):
        shapes = {
            "attn_norm.weight": None, "ffn_norm.weight": None,
            "attn_q.weight": (HEADS * head, HIDDEN), "attn_k.weight": (KV * head, HIDDEN),
            "attn_v.weight": (KV * head, HIDDEN), "attn_output.weight": (HIDDEN, HEADS * head),
            "ffn_gate.weight": (INNER, HIDDEN), "ffn_up.weight": (INNER, HIDDEN), "ffn_down.weight": (HIDDEN, INNER),
        }
        for name, shape in shapes.items():
            weights[f"blk.{layer}.{name}"] = 1 + draw(HIDDEN) if shape is None else draw(*shape)
        if kind == "qwen2":
            for n, rows in (("q", HEADS), ("k", KV), ("v", KV)):
                weights[f"blk.{layer}.attn_{n}.bias"] = draw(rows * head)
        if kind == "qwen3":
            for n in "qk":
                weights[f"blk.{layer}.attn_{n}_norm.weight"] = 1 + draw(head)
    writer = gguf.GGUFWriter(HERE / f"tiny-{kind}.gguf", kind)
    writer.add_block_count(LAYERS)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_rope_freq_base(BASE)
    if kind == "qwen3":
        writer.add_key_length(head)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(vocabulary)
    writer.add_token_types([1] * 256 + [3, 3, 1, 1])
    writer.add_token_merges(["H e", "e n"])
    writer.add_eos_token_id(257)
    writer.add_chat_template(TEMPLATE)
    for name, values in weights.items():
        writer.add_tensor(name, values.astype(np.float16) if values.ndim == 2 else values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    rounded = {name: (v.astype(np.float16) if v.ndim == 2 else v).astype(np.float64) for name, v in weights.items()}
    expected[kind] = {"tokens": TOKENS, "logits": [round(float(x), 6) for x in forward(kind, head, rounded, TOKENS)]}
(HERE / "tiny.json").write_text(json.dumps(expected) + "\n")
