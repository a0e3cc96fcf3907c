"""Reading ONNX files: protobuf, external data, structural checks, names of dimensions."""
