#!/usr/bin/env python3
"""Write .bin/.idx pairs with Megatron-Core's own indexed dataset.

    PYTHONPATH=<torch venv>/lib/python3.X/site-packages \\
        <mcore venv>/bin/python make_indexed.py [--check]

Beside this script then stand, for each case, NAME.bin and NAME.idx as
Megatron-Core writes them, and NAME.json: the dtype, and the documents, each a
list of sequences, each a list of tokens. `--check` writes into a scratch
folder instead and compares every byte. Needs: megatron-core (installed
without dependencies), torch, numpy. Nothing of Cairn is imported.
"""

import argparse
import filecmp
import importlib.metadata
import json
import pathlib
import sys
import tempfile

import numpy
import torch
from megatron.core.datasets.indexed_dataset import DType, IndexedDataset, IndexedDatasetBuilder

HERE = pathlib.Path(__file__).resolve().parent


def documents(vocab, seed):
    """Seven documents: one or more sequences each, of 1 to 40 tokens, with the
    smallest and the largest token, one repeated document, one empty sequence."""
    rng = numpy.random.default_rng(seed)
    sizes = [[5], [40], [1], [17, 3, 0, 8], [2, 2], [31]]
    result = [[rng.integers(0, vocab, n).tolist() for n in lengths] for lengths in sizes]
    result[0][0][0], result[0][0][-1] = 0, vocab - 1
    return [*result, result[1]]


# name -> (vocabulary, seed): the vocabulary decides the dtype, as in
# Megatron's tools/preprocess_data.py (u16 below 65,500, i32 otherwise).
CASES = {"u16": (50_257, 1), "i32": (128_256, 2)}


def write(folder, name):
    """One pair and its JSON; returns what was written."""
    vocab, seed = CASES[name]
    docs = documents(vocab, seed)
    dtype = DType.optimal_dtype(vocab)
    builder = IndexedDatasetBuilder(str(folder / f"{name}.bin"), dtype=dtype)
    for sequences in docs:
        flat = torch.tensor([t for s in sequences for t in s], dtype=torch.int64)
        builder.add_document(flat, [len(s) for s in sequences])
    builder.finalize(str(folder / f"{name}.idx"))
    facts = {
        "megatron_core": importlib.metadata.version("megatron-core"),
        "dtype": numpy.dtype(dtype).name,
        "vocab_size": vocab,
        "documents": docs,
    }
    (folder / f"{name}.json").write_text(json.dumps(facts) + "\n")
    return docs


def read_back(folder, name, docs):
    """Stop unless Megatron-Core reads the pair as the documents written."""
    data = IndexedDataset(str(folder / name))
    sequences = [s for doc in docs for s in doc]
    if [data[i].tolist() for i in range(len(data))] != sequences:
        sys.exit(f"{name}: the sequences read differ from those written")
    ends = numpy.cumsum([0] + [len(doc) for doc in docs]).tolist()
    if data.document_indices.tolist() != ends:
        sys.exit(f"{name}: document indices {data.document_indices.tolist()}, expected {ends}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) if args.check else HERE
        for name in CASES:
            read_back(folder, name, write(folder, name))
            for suffix in (".bin", ".idx") if args.check else ():
                if not filecmp.cmp(folder / (name + suffix), HERE / (name + suffix), shallow=False):
                    sys.exit(f"{name}{suffix} differs from the stored file")
            print(f"{name}: {sum(len(s) for d in documents(*CASES[name]) for s in d)} tokens")


if __name__ == "__main__":
    main()
