"""Prints what TensorBoard's own reader finds in a folder of event files.

Usage: read_tensorboard.py DIR

Output is one JSON object: for each scalar tag a list of [step, value], for each
text tag a list of [step, text], and the version of the tensorboard package.
"""

import json
import sys

import tensorboard
from tensorboard.backend.event_processing import event_accumulator
from tensorboard.util import tensor_util

accumulator = event_accumulator.EventAccumulator(
    sys.argv[1], size_guidance={"scalars": 0, "tensors": 0}
)
accumulator.Reload()
tags = accumulator.Tags()
scalars = {tag: [[e.step, e.value] for e in accumulator.Scalars(tag)] for tag in tags["scalars"]}
texts = {}
for tag in tags["tensors"]:
    plugin = accumulator.SummaryMetadata(tag).plugin_data.plugin_name
    if plugin != "text":
        sys.exit(f"{tag}: unexpected plugin {plugin!r}")
    texts[tag] = [
        [e.step, tensor_util.make_ndarray(e.tensor_proto).item().decode()]
        for e in accumulator.Tensors(tag)
    ]
print(json.dumps({"version": tensorboard.__version__, "scalars": scalars, "texts": texts}))
