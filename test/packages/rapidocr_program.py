"""Text in a picture by the package rapidocr: detection, orientation and recognition."""

import json

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from rapidocr import RapidOCR

picture = Image.new("RGB", (640, 200), "white")
draw = ImageDraw.Draw(picture)
font = ImageFont.load_default(36)
draw.text((20, 20), "Compilers are fun 2026", fill="black", font=font)
draw.text((60, 110), "Total: 1,234.50", fill="navy", font=font)
result = RapidOCR()(np.asarray(picture))
boxes = [] if result.boxes is None else np.asarray(result.boxes).tolist()
print(json.dumps({"lines": list(result.txts or ()), "scores": list(map(float, result.scores or ())), "boxes": boxes}))
