"""Writes hybrid/, a decoder of random weights as the Hub has them, and what numpy makes of its weights.

    pip install onnx==1.23.2 && python hybrid.py

A convolution with a state of its own, attention with keys and values, position ids, weights in a file beside the graph,
and no way to ask for the last logits only. `model.onnx` has 32-bit caches, `model_fp16.onnx` 16-bit ones, `model_nan.onnx`
returns what is no number. The forward pass below has no cache and shares nothing with the graph but the weights.
"""

import json
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).parent / "hybrid"
VOCABULARY, HIDDEN, CONTEXT, KERNEL = 40, 16, 64, 3
PROMPT, WRITTEN = [5, 9, 9, 30, 2], 12
random = np.random.default_rng(11)
draw = lambda *shape: (random.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)
WEIGHTS = {
    "embed": draw(VOCABULARY, HIDDEN) * 3,
    "position": draw(CONTEXT, HIDDEN),
    "conv": draw(HIDDEN, 1, KERNEL),
    "wq": draw(HIDDEN, HIDDEN),
    "wk": draw(HIDDEN, HIDDEN),
    "wv": draw(HIDDEN, HIDDEN),
    "wo": draw(HIDDEN, HIDDEN) * 2,
    "head": draw(HIDDEN, VOCABULARY),
}


def forward(tokens):
    """Logits behind the last token."""
    w = WEIGHTS
    x = w["embed"][tokens] + w["position"][: len(tokens)]
    before = np.concatenate([np.zeros((KERNEL - 1, HIDDEN), np.float32), x])
    x = x + sum(before[at : at + len(tokens)] * w["conv"][:, 0, at] for at in range(KERNEL))
    scores = (x @ w["wq"]) @ (x @ w["wk"]).T / np.sqrt(HIDDEN)
    scores[np.triu_indices(len(tokens), 1)] = -np.inf
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    x = x + scores / scores.sum(-1, keepdims=True) @ (x @ w["wv"]) @ w["wo"]
    return (x @ w["head"])[-1]


def graph(cache, scale):
    """The graph; `scale` is what its logits are multiplied with."""
    nodes, constants = [], []

    def node(op, *inputs, to=None, **attributes):
        name = to or f"{op.lower()}_{len(nodes)}"
        nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def constant(name, value):
        constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    one, two = constant("one", np.array([1], np.int64)), constant("two", np.array([2], np.int64))

    def cast(name, kind, to=None):
        output = to or f"cast_{len(nodes)}"
        nodes.append(helper.make_node("Cast", [name], [output], to=kind))
        return output

    x = node("Add", node("Gather", "embed", "input_ids"), node("Gather", "position", "position_ids"))
    turned = node("Transpose", x, perm=[0, 2, 1])
    whole = node("Concat", cast("past_conv.0", TensorProto.FLOAT), turned, axis=2)
    state = node("Slice", whole, constant("from", np.array([1 - KERNEL], np.int64)), constant("end", np.array([2**62], np.int64)), two)
    cast(state, cache, "present_conv.0")
    x = node("Add", x, node("Transpose", node("Conv", whole, "conv", group=HIDDEN), perm=[0, 2, 1]))
    query, key, value = (node("Unsqueeze", node("MatMul", x, w), one) for w in ("wq", "wk", "wv"))
    keys = node("Concat", cast("past_key_values.0.key", TensorProto.FLOAT), key, axis=2)
    values = node("Concat", cast("past_key_values.0.value", TensorProto.FLOAT), value, axis=2)
    cast(keys, cache, "present.0.key")
    cast(values, cache, "present.0.value")
    scores = node("MatMul", query, node("Transpose", keys, perm=[0, 1, 3, 2]))
    scores = node("Mul", scores, constant("scale", np.float32(1 / np.sqrt(HIDDEN))))
    # A key behind the query's position, or one that the mask leaves out, counts for nothing.
    total = node("Squeeze", node("Slice", node("Shape", "attention_mask"), one, two), constant("axis0", np.array([0], np.int64)))
    places = node("Range", constant("nought", np.int64(0)), total, constant("step", np.int64(1)))
    later = node("Greater", places, node("Unsqueeze", "position_ids", constant("three", np.array([1, 3], np.int64))))
    out = node("Not", cast("attention_mask", TensorProto.BOOL))
    hidden = node("Or", later, node("Unsqueeze", out, constant("middle", np.array([1, 2], np.int64))))
    scores = node("Where", hidden, constant("never", np.float32(-1e9)), scores)
    attended = node("Squeeze", node("MatMul", node("Softmax", scores, axis=-1), values), one)
    x = node("Add", x, node("MatMul", attended, "wo"))
    node("Mul", node("MatMul", x, "head"), constant("factor", np.float32(scale)), to="logits")
    info = helper.make_tensor_value_info
    past = ["batch", 1, "past", HIDDEN]
    inputs = [
        info("input_ids", TensorProto.INT64, ["batch", "sequence"]),
        info("attention_mask", TensorProto.INT64, ["batch", "total"]),
        info("position_ids", TensorProto.INT64, ["batch", "sequence"]),
        info("past_conv.0", cache, ["batch", HIDDEN, KERNEL - 1]),
        info("past_key_values.0.key", cache, past),
        info("past_key_values.0.value", cache, past),
    ]
    present = ["batch", 1, "total", HIDDEN]
    outputs = [
        info("logits", TensorProto.FLOAT, ["batch", "sequence", VOCABULARY]),
        info("present_conv.0", cache, ["batch", HIDDEN, KERNEL - 1]),
        info("present.0.key", cache, present),
        info("present.0.value", cache, present),
    ]
    weights = [numpy_helper.from_array(value, name) for name, value in WEIGHTS.items()]
    made = helper.make_graph(nodes, "hybrid", inputs, outputs, weights + constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    return model


(HERE / "onnx").mkdir(parents=True, exist_ok=True)
for name, cache, scale in (
    ("model", TensorProto.FLOAT, 1.0),
    ("model_fp16", TensorProto.FLOAT16, 1.0),
    ("model_nan", TensorProto.FLOAT, np.nan),
):
    data = HERE / "onnx" / f"{name}.onnx_data"
    data.unlink(missing_ok=True)
    onnx.save(
        graph(cache, scale),
        str(HERE / "onnx" / f"{name}.onnx"),
        save_as_external_data=True,
        location=data.name,
        size_threshold=200,
    )

words = {f"w{at}": at for at in range(VOCABULARY)}
tokenizer = {
    "version": "1.0",
    "added_tokens": [],
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "model": {"type": "WordLevel", "vocab": words, "unk_token": "w0"},
}
config = {"vocab_size": VOCABULARY, "max_position_embeddings": CONTEXT, "eos_token_id": VOCABULARY - 1}
template = "{% for m in messages %}{{ m.content }} {% endfor %}"
tokens = list(PROMPT)
margins = []
for _ in range(WRITTEN):
    logits = forward(tokens)
    ordered = np.sort(logits)
    margins.append(float(ordered[-1] - ordered[-2]))
    tokens.append(int(logits.argmax()))
assert min(margins) > 0.05 and VOCABULARY - 1 not in tokens and len(set(tokens[len(PROMPT) :])) > 3, (margins, tokens)
expected = {"prompt": PROMPT, "written": tokens[len(PROMPT) :]}
for name, content in (("tokenizer", tokenizer), ("config", config), ("expected", expected)):
    (HERE / f"{name}.json").write_text(json.dumps(content) + "\n")
(HERE / "chat_template.jinja").write_text(template)
