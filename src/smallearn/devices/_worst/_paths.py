"""The dearest path through machine code, proven by running it on values of which some are known and most are not.

The state of a run is what is known: registers, flags and words on the stack that hold a constant. A branch whose
condition is known goes one way, any other goes both. States are the nodes of a graph; if it has no cycle, its longest
path is an upper bound for every input. Loops with a fixed number of turns unroll by themselves, if their counters are
known; so what counters depend on is kept in the states, and all else is forgotten: otherwise every sum would have a
state of its own.

One assumption is made, that of all compiled C: a function does not overwrite the address it returns to.
"""

import functools
import itertools
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

FEW_STATES, MOST_STATES = 1_000, 8_000  # of one search: first a quick look, then a long one
ALL_STATES = 16_000  # of all searches that look for a bound
CLOSER_STATES = 6_000  # of all searches: after that, a bound is not made closer
SP, PC = "sp", "pc"
MEMORY = ("by", "pointer")  # the way to memory that is no variable of the function or pushed
NOWHERE = -1

# What is known: of registers, flags and the stack pointer; and of memory, as (way, value) at ("m", address), where the
# way says which instructions read it again: what was pushed is popped, for example. It matters only to what is kept.
Values = dict[Hashable, Any]
Spent = tuple[int, int]  # what the simulator counts, and cycles
NOTHING: frozenset = frozenset()


class UnprovenError(Exception):
    """There is no proof; the message says why."""


@dataclass(frozen=True, eq=False)
class Back:
    """An address to return to: a value of a register or on the stack that is always kept. There is one for each
    address (`back_to`), so that they are compared and hashed at once."""

    address: int


@functools.cache
def back_to(address: int) -> Back:
    """The value that returns to an address."""
    return Back(address)


@dataclass(frozen=True)
class Flow:
    """What an instruction writes, and what these values depend on."""

    writes: frozenset
    reads: frozenset


@dataclass(frozen=True)
class Instruction:
    """An instruction, decoded.

    ``run`` changes what is known. ``kind`` is "plain", "jump", "call" or "return"; ``jump`` is what going to ``target``
    costs besides. ``test``, which reads ``reads``, says whether that happens: None if it is not known. A return leaves
    where it goes in ``values[PC]``. ``learn`` notes what is known once the test came out one way.
    """

    size: int
    cost: Spent
    flows: tuple[Flow, ...] = ()
    run: Callable[[Values], None] | None = None
    kind: str = "plain"
    target: int = NOWHERE
    jump: Spent = (0, 0)
    test: Callable[[Values], bool | None] | None = None
    reads: frozenset = NOTHING
    learn: Callable[[Values, bool], None] | None = None


class Machine(Protocol):
    """Machine code of one architecture."""

    def decode(self, address: int) -> Instruction:
        """The instruction there; `UnprovenError` if it is not known."""

    def start(self) -> tuple[int, Values]:
        """The address of the instruction that calls the function, and what is known before it."""


@dataclass(frozen=True)
class Worst:
    """An upper bound for every input: what the simulator counts, cycles, and bytes of stack below the caller's."""

    count: int
    cycles: int
    stack: int


@dataclass(frozen=True)
class _Block:
    """Consecutive instructions of which only the last goes elsewhere."""

    start: int
    instructions: tuple[Instruction, ...]
    cost: Spent
    after: int  # the address that follows

    @property
    def last(self) -> Instruction:
        return self.instructions[-1]

    @property
    def forks(self) -> bool:
        return self.last.test is not None

    def following(self) -> list[int]:
        """Where control goes within the function; a call goes on behind it."""
        last = self.last
        targets = [last.target] if last.kind == "jump" else []
        return [*targets, self.after] if last.kind == "call" or last.test is not None else targets


@dataclass(frozen=True)
class _Found:
    """A bound, the branches that went both ways, those of them that were met in several states, and the states."""

    worst: Worst
    open: frozenset[int]
    repeated: frozenset[int]
    n_states: int


class _LoopError(UnprovenError):
    """A cycle of states, with the blocks in it, and the branches that went both ways before it was found."""

    def __init__(self, blocks: list[int], branches: set[int]):
        super().__init__("a loop has a number of turns that depends on the row")
        self.blocks, self.open = blocks, frozenset(branches)


def longest_path(machine: Machine) -> Worst:
    """The dearest path from the function's start to its return, both included; `UnprovenError` if there may be none."""
    code = _Code(machine)
    needed: frozenset[int] = NOTHING
    while True:
        try:
            found = code.explore(needed)
            break
        except _LoopError as loop:
            needed = _resolved(code, needed, loop)
    for branch in sorted(found.repeated):
        if code.n_states > CLOSER_STATES:
            break
        try:
            closer = code.explore(needed | {branch}, 4 * found.n_states + 200)
        except UnprovenError:
            continue
        if branch not in closer.open:
            found, needed = closer, needed | {branch}
    return found.worst


def _resolved(code: "_Code", needed: frozenset[int], loop: _LoopError) -> frozenset[int]:
    """The branches whose outcome has to be known, with one more that makes the loop end."""
    forks = [start for start in dict.fromkeys(loop.blocks) if code.block(start).forks and start not in needed]
    exits = [start for start in forks if code.leaves_loop(start)]
    rest = [start for start in forks if start not in exits]
    everything = [start for start, block in code.blocks.items() if block.forks]
    choices = [*([start] for start in (*exits, *rest)), exits, forks, everything]
    for most, tried in itertools.product((FEW_STATES, MOST_STATES), choices):
        more = needed | frozenset(tried)
        if code.n_states > ALL_STATES:
            raise UnprovenError("there are too many paths")
        try:
            code.explore(more, most)
            return more
        except _LoopError as other:
            if tried and not (set(tried) & other.open and set(loop.blocks) & set(other.blocks)):
                return more  # these branches are known now, or it is another loop that is met first
        except UnprovenError:
            pass
    raise loop


class _Code:
    """The blocks of a program, and the search for its longest path."""

    def __init__(self, machine: Machine):
        self.machine = machine
        self.start, self.values = machine.start()
        self.blocks: dict[int, _Block] = {}
        self.end = self.block(self.start).after
        self.blocks[self.end] = _Block(self.end, (Instruction(0, (0, 0), kind="end"),), (0, 0), self.end)
        self.callers: dict[int, set[int]] = {}  # of a function: where its calls return to
        self.n_states = 0  # of all searches
        self._discover()

    def block(self, start: int) -> _Block:
        if start not in self.blocks:
            found: list[Instruction] = []
            address, count, cycles = start, 0, 0
            while not found or found[-1].kind == "plain":
                instruction = self.machine.decode(address)
                found.append(instruction)
                address += instruction.size
                count, cycles = count + instruction.cost[0], cycles + instruction.cost[1]
            self.blocks[start] = _Block(start, tuple(found), (count, cycles), address)
        return self.blocks[start]

    def _discover(self) -> None:
        """All blocks, and which follows which: also from the end of a function to behind its calls."""
        functions: dict[int, set[int]] = {}
        waiting = [self.start]
        while waiting:
            entry = waiting.pop()
            if entry in functions:
                continue
            functions[entry] = self._reachable(entry)
            for start in functions[entry]:
                block = self.block(start)
                if block.last.kind == "call":
                    self.callers.setdefault(block.last.target, set()).add(block.after)
                    waiting.append(block.last.target)
        self.touched = self._touched(functions)
        self.next = {start: set(block.following()) for start, block in self.blocks.items()}
        self.inside: dict[int, list[int]] = {}  # of a block that returns: the functions it is part of
        for entry, inside in functions.items():
            for start in inside:
                block = self.blocks[start]
                if block.last.kind == "call":
                    self.next[start].add(block.last.target)
                if block.last.kind == "return":
                    self.next[start] |= self.callers.get(entry, set())
                    self.inside.setdefault(start, []).append(entry)

    def _touched(self, functions: dict[int, set[int]]) -> dict[int, frozenset]:
        """What each function reads or writes, with those that it calls."""
        found = {
            entry: frozenset(
                name
                for start in inside
                for instruction in self.blocks[start].instructions
                for names in (instruction.reads, *(flow.reads | flow.writes for flow in instruction.flows))
                for name in names
            )
            for entry, inside in functions.items()
        }
        calls = {
            entry: {self.blocks[start].last.target for start in inside if self.blocks[start].last.kind == "call"}
            for entry, inside in functions.items()
        }
        left = dict(calls)
        while left:  # from functions that call none to those that call them
            entry = next((entry for entry, called in left.items() if not called & left.keys()), None)
            if entry is None:
                raise UnprovenError("a function calls itself")
            found[entry] = found[entry].union(*(found[called] for called in left.pop(entry)))
        return found

    def _reachable(self, *starts: int) -> set[int]:
        """The blocks that can follow within a function, the first ones included."""
        seen, waiting = set(), list(starts)
        while waiting:
            start = waiting.pop()
            if start not in seen:
                seen.add(start)
                waiting += self.block(start).following()
        return seen

    def leaves_loop(self, start: int) -> bool:
        """Whether one of a branch's ways does not lead back to it."""
        return any(start not in self._reachable(after) for after in self.block(start).following())

    def explore(self, needed: frozenset[int], most: int = MOST_STATES) -> _Found:
        """The longest path, with the outcome of these branches known where it can be known."""
        search = _Exploration(self, self._relevant(needed), most)
        try:
            return search.run()
        finally:
            self.n_states += len(search.nodes)

    def _relevant(self, needed: frozenset[int]) -> dict[int, frozenset]:
        """What has to be known at the start of each block for the stack pointer and these branches' conditions."""
        relevant: dict[int, frozenset] = dict.fromkeys(self.blocks, NOTHING)
        before: dict[int, set[int]] = {}
        for start, following in self.next.items():
            for after in following:
                before.setdefault(after, set()).add(start)
        waiting = set(self.blocks)
        while waiting:
            start = waiting.pop()
            block = self.blocks[start]
            known = {SP}.union(*self._after(block, relevant))
            if start in needed:
                known |= block.last.reads
            for instruction in reversed(block.instructions):
                known = _before(instruction, known)
            if not known <= relevant[start]:
                relevant[start] |= known
                waiting |= before.get(start, set())
        return relevant

    def _after(self, block: _Block, relevant: dict[int, frozenset]) -> Iterable[frozenset]:
        """What has to be known after a block, for each way on. What a function does not touch is not its business: it
        is needed behind this call, not behind all of them."""
        if block.last.kind == "call":
            return (relevant[block.last.target], relevant[block.after] - self.touched[block.last.target])
        if block.last.kind == "return":
            return (
                relevant[after] & self.touched[entry]
                for entry in self.inside[block.start]
                for after in self.callers.get(entry, ())
            )
        return (relevant[after] for after in self.next[block.start])


def _before(instruction: Instruction, known: set) -> set:
    """What has to be known before an instruction for this to be known after it."""
    wanted = [flow for flow in instruction.flows if flow.writes & known]
    killed = {name for flow in wanted for name in flow.writes if not isinstance(name, tuple) and name != SP}
    return (known - killed).union(*(flow.reads for flow in wanted)) if wanted else known


@dataclass
class _Node:
    """A state: a block and what is known at its start; then the states that follow, with what the way there costs."""

    start: int
    values: Values
    following: list[tuple[Hashable, Spent]] | None = None
    longest: Spent | None = None


class _Exploration:
    """One search, depth first, over the graph of states."""

    def __init__(self, code: _Code, relevant: dict[int, frozenset], most: int):
        self.code, self.relevant, self.most = code, relevant, most
        self.nodes: dict[Hashable, _Node] = {}
        self.lowest = code.values[SP]
        self.open: set[int] = set()
        self.visits: dict[int, int] = {}
        self.wanted: dict[tuple[int, frozenset[Back]], frozenset] = {}  # by a block and where it may return to

    def run(self) -> _Found:
        first = self._node(self.code.start, self.code.values)
        path: list[tuple[Hashable, int]] = [(first, 0)]  # the states on the way here, and which of their ways is next
        on_path = {first}
        while path:
            key, way = path[-1]
            node = self.nodes[key]
            following = self._following(node)
            if way < len(following):
                path[-1] = (key, way + 1)
                after = following[way][0]
                if after in on_path:
                    self._raise_loop([state for state, _ in path], after)
                if self.nodes[after].longest is None:
                    path.append((after, 0))
                    on_path.add(after)
            else:
                node.longest = self._longest(node)
                path.pop()
                on_path.remove(key)
        count, cycles = self.nodes[first].longest  # type: ignore[misc]
        repeated = frozenset(start for start in self.open if self.visits[start] > 1)
        worst = Worst(count, cycles, self.code.values[SP] - self.lowest)
        return _Found(worst, frozenset(self.open), repeated, len(self.nodes))

    def _raise_loop(self, path: list[Hashable], head: Hashable) -> None:
        raise _LoopError([self.nodes[key].start for key in path[path.index(head) :]], self.open)

    def _longest(self, node: _Node) -> Spent:
        ways = [(way, self.nodes[key].longest or (0, 0)) for key, way in self._following(node)]
        count, cycles = (max((way[i] + tail[i] for way, tail in ways), default=0) for i in (0, 1))
        spent = self.code.blocks[node.start].cost
        return spent[0] + count, spent[1] + cycles

    def _node(self, start: int, values: Values) -> Hashable:
        """The state of a block with what is worth knowing of the values."""
        backs = [value for value in values.values() if value.__class__ is Back]
        wanted = self._wanted(start, frozenset(backs))
        kept = {
            name: value
            for name, value in values.items()
            if value.__class__ is Back or (value[0] if name.__class__ is tuple else name) in wanted
        }
        key = (start, frozenset(kept.items()))
        if key not in self.nodes:
            if len(self.nodes) >= self.most:
                raise UnprovenError("there are too many paths")
            self.nodes[key] = _Node(start, kept)
            self.visits[start] = self.visits.get(start, 0) + 1
        return key

    def _wanted(self, start: int, backs: frozenset[Back]) -> frozenset:
        """What is worth knowing in a block, and behind the calls that led to it."""
        found = self.wanted.get((start, backs))
        if found is None:
            behind = (self.relevant.get(back.address, NOTHING) for back in backs)
            found = self.relevant[start].union({SP}, *behind)
            self.wanted[start, backs] = found
        return found

    def _following(self, node: _Node) -> list[tuple[Hashable, Spent]]:
        if node.following is None:
            node.following = self._run_block(node)
        return node.following

    def _run_block(self, node: _Node) -> list[tuple[Hashable, Spent]]:
        """The states that follow, with what the way there costs."""
        block, values = self.code.blocks[node.start], dict(node.values)
        following: list[tuple[Hashable, Spent]] = []
        last = block.last
        if last.kind == "end":
            return following
        for instruction in block.instructions[:-1]:
            self._step(instruction, values)
        outcome = True if last.test is None else last.test(values)
        if outcome is None:
            self.open.add(node.start)
        if outcome is not True:
            other = dict(values)
            if last.learn is not None:
                last.learn(other, False)
            following.append((self._node(block.after, other), (0, 0)))
        if outcome is not False:
            if last.learn is not None:
                last.learn(values, True)
            self._step(last, values)
            target = last.target
            if last.kind == "return":
                back = values.pop(PC, None)
                if not isinstance(back, Back):
                    raise UnprovenError("a jump goes to an address that is computed")
                target = back.address
            following.append((self._node(target, values), last.jump))
        return following

    def _step(self, instruction: Instruction, values: Values) -> None:
        if instruction.run is not None:
            instruction.run(values)
            if values.get(SP) is None:
                raise UnprovenError("the stack pointer is not known")
            self.lowest = min(self.lowest, values[SP])


def store(values: Values, address: int | None, way: tuple, value: Any) -> None:
    """Write to memory. After a store to an address that is not known, only where to return to is known of memory."""
    if address is None:
        for name in [name for name, old in values.items() if isinstance(name, tuple) and not isinstance(old, Back)]:
            del values[name]
    elif value is None:
        values.pop(("m", address), None)
    else:
        values["m", address] = value if isinstance(value, Back) else (way, value)


def load(values: Values, address: int | None) -> Any:
    """Read from memory; None if the value is not known."""
    found = None if address is None else values.get(("m", address))
    return found[1] if isinstance(found, tuple) else found


def known(values: Values, name: Hashable) -> int | None:
    """The number in a register; None if it is not known, or an address to return to."""
    value = values.get(name)
    return value if isinstance(value, int) else None


def assign(values: Values, name: Hashable, value: Any) -> None:
    """Set a register; None is a value that is not known."""
    if value is None:
        values.pop(name, None)
    else:
        values[name] = value


Compute = Callable[..., tuple[int, dict[str, int]]]  # a result and flags, from operands that are known


def calculation(
    size: int, cost: Spent, register: Hashable, sources: Iterable, flags: Iterable[str], compute: Compute
) -> Instruction:
    """An instruction whose result and flags follow from its sources; without a register only the flags are kept."""
    names = tuple(sources)
    written = frozenset(flags) | ({register} if register is not None else NOTHING)

    def run(values: Values) -> None:
        operands = [known(values, name) for name in names]
        for name in written:
            values.pop(name, None)
        if None not in operands:
            result, found = compute(*operands)
            values.update(found)
            if register is not None:
                values[register] = result

    return Instruction(size, cost, (Flow(written, frozenset(names)),), run)


def forget(size: int, cost: Spent, names: Iterable) -> Instruction:
    """An instruction whose results are not followed."""
    written = frozenset(names)

    def run(values: Values) -> None:
        for name in written:
            values.pop(name, None)

    return Instruction(size, cost, (Flow(written, NOTHING),), run)


def conditional(instruction: Instruction, test: Callable[[Values], bool | None], reads: Iterable) -> Instruction:
    """The instruction, executed only if a condition holds."""
    if instruction.kind != "plain":
        return replace(instruction, test=test, reads=frozenset(reads))
    run = instruction.run

    def maybe(values: Values) -> None:
        outcome = test(values)
        if outcome is False or run is None:
            return
        before = dict(values)
        run(values)
        if outcome is None:
            for name in before.keys() | values.keys():
                if before.get(name) != values.get(name):
                    values.pop(name, None)

    written = frozenset().union(*(flow.writes for flow in instruction.flows))
    flows = tuple(Flow(flow.writes, flow.reads | flow.writes | frozenset(reads)) for flow in instruction.flows)
    return replace(instruction, run=maybe, flows=flows if written else ())
