"""Voice activity by the package silero-vad and its ONNX model: a tone that comes and goes in noise."""

import json

import numpy as np
import torch
from silero_vad import get_speech_timestamps, load_silero_vad

found = {}
random = np.random.default_rng(11)
model = load_silero_vad(onnx=True)
for rate, window in ((16000, 512), (8000, 256)):
    time = np.arange(rate * 3) / rate
    voiced = sum(np.sin(2 * np.pi * 140 * k * time) / k for k in range(1, 20)) * (1 + np.sin(2 * np.pi * 4 * time))
    signal = (0.05 * voiced * (time % 1 < 0.6) + 0.003 * random.standard_normal(len(time))).astype(np.float32)
    audio = torch.from_numpy(signal)
    model.reset_states()
    found[f"{rate} chunks"] = [float(model(audio[n : n + window], rate)) for n in range(0, 30 * window, window)]
    found[f"{rate} times"] = [list(each.values()) for each in get_speech_timestamps(audio, model, sampling_rate=rate)]
print(json.dumps(found))
