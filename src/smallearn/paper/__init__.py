"""The paper's experiments, one file each: every table and figure, measured anew beside what was published."""
