"""Writes blocks.json: two blocks of every weight format, and their weights by the dequantisation of the package gguf.

    pip install gguf==0.19.0 && python blocks.py > blocks.json

Bytes are drawn by a fixed seed; scales are made finite and small.
"""

import json

import numpy
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

NAMES = ["F32", "F16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K", "BF16"]
# Where the 16-bit floats of a block lie.
SCALES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}

random = numpy.random.default_rng(20)
cases = {}
for name in NAMES:
    kind = GGMLQuantizationType[name]
    if name in ("F32", "F16"):
        weights = random.normal(size=64).astype(numpy.float32 if name == "F32" else numpy.float16)
        raw = weights.view(numpy.uint8)
    elif name == "BF16":
        raw = (random.normal(size=64).astype(numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16).view(numpy.uint8)
    else:
        _, size = GGML_QUANT_SIZES[kind]
        raw = random.integers(0, 256, size=2 * size, dtype=numpy.uint8)
        for block in range(2):
            for place in SCALES[name]:
                scale = random.normal(scale=0.01, size=1).astype(numpy.float16).view(numpy.uint8)
                raw[block * size + place : block * size + place + 2] = scale
    weights = dequantize(raw, kind)
    cases[name] = {"bytes": raw.tolist(), "weights": [float(weight) for weight in weights.astype(numpy.float32).ravel()]}
print(json.dumps(cases))
