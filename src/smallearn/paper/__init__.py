"""Internal: the experiments of the paper (``smallearn paper``), one file each.

Every table and figure is measured again and written next to the published numbers. The modules can be imported, but
they are not part of the public interface: their names and signatures may change in any release. The supported way in is
the command ``smallearn paper``; docs/paper.md describes it and has the results.
"""
