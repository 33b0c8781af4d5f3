"""Internal: Python, JavaScript and Rust."""
