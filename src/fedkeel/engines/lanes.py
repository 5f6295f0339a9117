"""The clients of a cohort on their lanes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .. import trees
from ..part import Batch
from .base import Answers, Errand
from .timetable import Ints, Stretch, stretches
from .tracing import Leaves
from .verbs import Mine, Walked

if TYPE_CHECKING:
    from .stacked import Stacked


class Lanes:
    """A round's visits side by side.

    States are flat lists of leaves ``(lanes, ...)``, in the order of ``Progress``: weights first.
    """

    def __init__(self, engine: Stacked, errand: Errand, members: Sequence[int]) -> None:
        """Stack what the clients have; ``members`` are places in the cohort."""
        self.engine, self.errand, self.members = engine, errand, members
        self.device = errand.sent.params.device
        self.turns = [len(errand.batches[i]) for i in members]
        self.rows = _stacked([errand.batches[i] for i in members], -1)  # (C, T, B)
        self.sizes = (self.rows >= 0).sum(axis=2)
        self.shared = engine.shared(errand)
        own = Mine(errand.buffers, errand.label_counts, errand.coresets, errand.memories)
        everyone = len(members) == len(errand.clients)
        self.mine: Mine = own if everyone else _picked(own, self._index(members))
        self.places = torch.from_numpy(self.rows).to(self.device)
        moves = errand.moves and _stacked([errand.moves[i] for i in members], 0)
        self.moves = None if moves is None else torch.from_numpy(moves).to(self.device)
        weights = errand.weights
        chosen = None if weights is None else _stacked([weights[i] for i in members], 0)
        counted: NDArray[Any] = self.rows >= 0 if chosen is None else chosen
        self.weight = torch.from_numpy(counted).to(errand.sent.params)
        self.trail: list[Tensor] = []  # one (C, T, D), where steps are digested

    def visits(self) -> Answers:
        """Walk from stretch to stretch, then finish all clients; at one go if visits are short."""
        if self._short():
            return self._at_once()
        idle = [i for i, length in enumerate(self.turns) if not length]
        ended: Leaves = []
        now: Leaves = []
        for stretch in stretches(self.turns, self.engine.width):
            now = [t[: stretch.width] for t in now] if now and len(now[0]) > stretch.width else now
            mine = self._mine(stretch.clients, stretch.width)
            now = self._entered(now, stretch, mine)
            now = self._walked(now, stretch, mine)
            ended = self._left(ended, now, stretch)
        if idle:  # a client without a batch ends where it began
            ended = self._kept(ended, self._begun(self._mine(np.array(idle), len(idle))), idle)
        return self._finished(ended)

    def _short(self) -> bool:
        """Say whether one program can take all of all visits."""
        engine, length = self.engine, self.turns[0]
        fit = 0 < length <= engine.unroll and len(self.turns) <= engine.width
        return fit and set(self.turns) == {length} and self._alike(self.sizes)

    def _at_once(self) -> Answers:
        who = np.arange(len(self.turns))
        batch = self._batch(who, who * 0, self.turns[0], int(self.sizes.max()))
        args = (self.shared, self.mine, batch, *self._lengths(self.engine.longest))
        leaves = trees.tree_leaves(args)
        rows = batch.weight.shape[2]
        visit = self.engine.program("visit", len(who), leaves, lambda: args, rows)
        upload, memory, loss, seen = visit.fold(visit.run(leaves))
        self.engine.tally.needed += self.sizes.size
        self.engine.tally.executed += self.sizes.size
        return Answers(upload.update, upload.buffers, upload.note, memory, loss, seen)

    def _lengths(self, longest: int) -> tuple[Tensor, Tensor]:
        """Return which steps each client took, ``(C, longest)``, and how far one would have led."""
        anchor, method = self.shared.anchor, self.engine.shop.method
        steps = torch.from_numpy(np.arange(longest) < np.array(self.turns)[:, None]).to(anchor)
        travel = {n: method.travel(n, self.errand.lr) for n in set(self.turns)}
        return steps, anchor.new_tensor([travel[n] for n in self.turns])

    def _entered(self, now: Leaves, stretch: Stretch, mine: Mine) -> Leaves:
        """Put those who begin on their lanes."""
        if not len(stretch.begins):
            return now
        fresh = self._begun(mine)
        if not now or len(stretch.begins) == stretch.width:
            return fresh
        which = self._index(stretch.begins)
        return [old.index_copy(0, which, new[which]) for old, new in zip(now, fresh, strict=True)]

    def _left(self, ended: Leaves, now: Leaves, stretch: Stretch) -> Leaves:
        """Keep the states of those who are done."""
        if not len(stretch.ends):
            return ended
        who = stretch.clients[stretch.ends]
        all_at_once = (
            len(who) == len(self.turns) == len(now[0]) and (who == np.arange(len(who))).all()
        )
        if all_at_once:
            return now
        return self._kept(ended, [t[self._index(stretch.ends)] for t in now], who)

    def _kept(self, ended: Leaves, states: Leaves, who: Sequence[int] | Ints) -> Leaves:
        ended = ended or [t.new_zeros(len(self.turns), *t.shape[1:]) for t in states]
        index = self._index(who)
        for held, state in zip(ended, states, strict=True):
            held.index_copy_(0, index, state)
        return ended

    def _walked(self, now: Leaves, stretch: Stretch, mine: Mine) -> Leaves:
        """Take the turns of a stretch, several in one program where that is possible."""
        engine, done = self.engine, 0
        constants: Leaves = trees.tree_leaves((self.shared, mine))
        while done < stretch.turns:
            steps = stretch.step + done
            ahead = steps[:, None] + np.arange(min(engine.unroll, stretch.turns - done))
            sizes = self.sizes[stretch.clients[:, None], ahead]
            if len(ahead[0]) < engine.unroll or not self._alike(sizes):
                sizes = sizes[:, :1]
            now = self._turn(now, stretch, steps, sizes, constants, mine)
            done += sizes.shape[1]
            engine.tally.needed += sizes.size
            engine.tally.executed += stretch.width * sizes.shape[1]
        return now

    def _alike(self, sizes: Ints) -> bool:
        """Say whether batches of these sizes go into one program."""
        if self.engine.shop.rows_meet:
            return bool((sizes == sizes[0, 0]).all())
        return bool((2 * sizes.max(axis=0) > self.engine.batch_rows).all())

    def _turn(
        self, now: Leaves, stretch: Stretch, steps: Ints, sizes: Ints, constants: Leaves, mine: Mine
    ) -> Leaves:
        before, who = now[0], stretch.clients
        if not self.engine.shop.rows_meet or (sizes == sizes[0, 0]).all():
            lanes = np.minimum(np.arange(stretch.width), len(who) - 1)  # idle lanes repeat the last
            batch = self._batch(who[lanes], steps[lanes], sizes.shape[1], int(sizes.max()))
            now = self._stepped(now, batch, constants, mine)
        else:
            now = self._by_size(now, who, steps, sizes[:, 0], mine)
        if self.engine.digests:
            self._note(who, steps, (before - now[0])[: len(who)])
        return now

    def _by_size(self, now: Leaves, who: Ints, steps: Ints, sizes: Ints, mine: Mine) -> Leaves:
        """Step lanes with batches of one size together: padding must not be seen."""
        after = [t.clone() for t in now]
        order = sorted(range(len(who)), key=lambda lane: sizes[lane])
        for size, group in groupby(order, key=lambda lane: int(sizes[lane])):
            lanes = np.array(list(group))
            index = self._index(lanes)
            batch = self._batch(who[lanes], steps[lanes], 1, size)
            some = _picked(mine, index)
            constants = trees.tree_leaves((self.shared, some))
            moved = self._stepped([t[index] for t in now], batch, constants, some)
            for whole, part in zip(after, moved, strict=True):
                whole.index_copy_(0, index, part)
        return after

    def _batch(self, who: Ints, steps: Ints, count: int, size: int) -> Batch:
        """Gather ``count`` batches a lane, of the largest size, or full if that is no dearer."""
        shop, full = self.engine.shop, self.engine.batch_rows
        padded = not shop.rows_meet and self.engine.trace and 2 * size > full
        rows = full if padded else size
        at = (
            self._index(who)[:, None],
            self._index(steps)[:, None] + torch.arange(count, device=self.device),
        )
        places, weight = (t[at][..., :rows] for t in (self.places, self.weight))
        moves = None if self.moves is None else self.moves[at][..., :rows]
        x, y = shop.pool.take(places, moves)
        return Batch(x, y, weight, self._noise(x, who, steps) if shop.draws else ())

    def _noise(self, x: Tensor, who: Ints, steps: Ints) -> tuple[Tensor, ...]:
        shop, errand = self.engine.shop, self.errand
        drawn = [
            [
                shop.noise(x[lane, u], errand.round, errand.clients[self.members[i]], int(step) + u)
                for u in range(x.shape[1])
            ]
            for lane, (i, step) in enumerate(zip(who, steps, strict=True))
        ]
        calls = range(len(drawn[0][0]))
        return tuple(
            torch.stack([torch.stack([one[call] for one in lane]) for lane in drawn])
            for call in calls
        )

    def _stepped(self, now: Leaves, batch: Batch, constants: Leaves, mine: Mine) -> Leaves:
        leaves = [*constants, *now, batch.x, batch.y, batch.weight, *batch.noise]
        count, rows = len(now[0]), batch.weight.shape[2]

        def args() -> tuple[Any, ...]:
            return self.shared, mine, self.beginning.fold(now), batch

        return self.engine.program("walk", count, leaves, args, rows).run(leaves)

    def _begun(self, mine: Mine) -> Leaves:
        leaves: Leaves = trees.tree_leaves((self.shared, mine))
        count = len(mine.label_counts)
        self.beginning = self.engine.program("begin", count, leaves, lambda: (self.shared, mine))
        # What all lanes share comes expanded; a compiled step wants what it will see ever after.
        return [t.contiguous() for t in self.beginning.run(leaves)]

    def _note(self, who: Ints, steps: Ints, moved: Tensor) -> None:
        """Keep what each lane's weights moved in this step."""
        if not self.trail:
            anchor = self.shared.anchor
            self.trail = [anchor.new_zeros(len(self.turns), max(self.turns), anchor.numel())]
        self.trail[0][self._index(who), self._index(steps)] = moved

    def _finished(self, ended: Leaves) -> Answers:
        steps, travel = self._lengths(max(self.turns) if self.trail else self.engine.longest)
        trail = self.trail[0].double() if self.trail else None
        gram = steps.new_zeros(len(steps), 0, 0) if trail is None else trail @ trail.mT
        now = self.beginning.fold(ended)
        walked = Walked(now.params, now.buffers, steps, travel, gram, tuple(self.trail))
        args = (self.shared, self.mine, walked)
        leaves = trees.tree_leaves(args)
        finish = self.engine.program("finish", len(steps), leaves, lambda: args)
        upload, memory = finish.fold(finish.run(leaves))
        return Answers(upload.update, upload.buffers, upload.note, memory, now.loss, now.rows)

    def _mine(self, who: Ints, width: int) -> Mine:
        """Return what the clients on the lanes have; idle lanes repeat the last."""
        lanes = who[np.minimum(np.arange(width), len(who) - 1)]
        if len(lanes) == len(self.turns) and (lanes == np.arange(len(lanes))).all():
            return self.mine
        return _picked(self.mine, self._index(lanes))

    def _index(self, numbers: Sequence[int] | Ints) -> Tensor:
        return torch.as_tensor(numbers, dtype=torch.long, device=self.device)


def _picked(mine: Mine, index: Tensor) -> Mine:
    picked: Mine = trees.tree_map(lambda t: t.index_select(0, index), mine)
    return picked


def _stacked(rows: Sequence[NDArray[Any]], filler: int) -> NDArray[Any]:
    """Stack batches of different number, ``(C, T, B)``."""
    longest = max(len(r) for r in rows)
    if all(len(r) == longest for r in rows):
        return np.stack(rows)
    out = np.full((len(rows), longest, rows[0].shape[1]), filler, dtype=rows[0].dtype)
    for row, batches in zip(out, rows, strict=True):
        row[: len(batches)] = batches
    return out
