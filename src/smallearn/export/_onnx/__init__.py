"""Internal: ONNX."""
