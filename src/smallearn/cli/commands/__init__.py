"""Internal: the commands, a file each.

To add a command, write a file beside the others and add it to ``COMMANDS``, which is also the order of
``smallearn --help``. The file has

- ``EXAMPLES``: lines of shell that the help shows and the tests run;
- ``add(commands)``: adds the command's parser with `arguments.add_command`, and returns it;
- ``run(arguments, console)``: does the work, prints the result and returns the exit code.
"""

from smallearn.cli.commands import (
    app,
    cache,
    cost,
    demo,
    doctor,
    edit,
    evaluate,
    explain,
    export,
    fit,
    frontier,
    monitor,
    paper,
    predict,
    report,
)

COMMANDS = (
    demo,
    app,
    fit,
    evaluate,
    predict,
    monitor,
    explain,
    edit,
    frontier,
    export,
    cost,
    report,
    paper,
    cache,
    doctor,
)
