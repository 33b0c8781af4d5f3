"""A trained model where predictions are made: C, Arduino, Python, JavaScript, Rust, SQL, ONNX."""
