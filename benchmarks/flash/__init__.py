"""What is most accurate within 0.5 KB and 2 KB of flash on a Cortex-M0."""
