import { createTurns } from '../base/turns.ts';
import { unlimited, walk, walkedAll, type StepTime, type Walked } from '../base/walk.ts';
import { isTerminal } from '../task/task.ts';
import type { KeySlotStore } from '../store/key-slots.ts';
import type { TaskStore } from '../store/tasks.ts';
import type { SlotKeeper } from './slot-keeper.ts';
import type { Task } from '../task/record.ts';

export type SlotFailure = { readonly [name in 'task' | 'key' | 'channel']?: string };

interface SlotUpkeepDeps {
  readonly tasks: Pick<TaskStore, 'findMany'>;
  readonly onFailed: (about: SlotFailure, error: unknown) => void;
}

type TidySlots = Pick<SlotKeeper, 'holders' | 'release' | 'queues' | 'serve'>;

/**
 * Frees the slots of tasks whose workflow was terminated, and admits waiting tasks. Returns how many tasks lost their
 * slots. Leases without a task simply expire.
 */
export function createTidySlots(slots: TidySlots, { tasks, onFailed }: SlotUpkeepDeps) {
  const endedTurns = createTurns(({ id }: Pick<Task, 'id'>) => id);
  const queueTurns = createTurns(({ channel, credential }: Queue) => JSON.stringify([channel, credential]));
  return async ({ isOver, isHalfOver }: StepTime = unlimited): Promise<Walked> => {
    const holders = await tasks.findMany(await slots.holders());
    const ended = holders.filter(({ status }) => isTerminal(status));
    const released = await walk(ended, {
      loop: 'slots of ended tasks',
      isOver: isHalfOver,
      turns: endedTurns,
      run: ({ id }) => slots.release(id).then(() => true),
      onFailed: ({ id }, error) => onFailed({ task: id }, error),
    });
    const served = await walk(slots.queues(), {
      loop: 'queues of slots',
      isOver,
      turns: queueTurns,
      run: (candidate) => slots.serve(candidate).then(() => false),
      onFailed: ({ channel }, error) => onFailed({ channel }, error),
    });
    return walkedAll([released, served]);
  };
}

type Queue = ReturnType<SlotKeeper['queues']>[number];

type Counted = Awaited<ReturnType<KeySlotStore['list']>>[number];

const admissionMaxMs = 5 * 60_000;

/**
 * Corrects each key's count of unfinished tasks, which may include tasks that finished without being released or whose
 * admission died before writing anything. Returns the number of corrected keys.
 */
export function createTidyKeySlots(
  slots: Pick<KeySlotStore, 'list' | 'release'>,
  { tasks, onFailed, now }: SlotUpkeepDeps & { readonly now: () => number },
) {
  const turns = createTurns(({ key }: Counted) => key);
  return async ({ isOver }: StepTime = unlimited): Promise<Walked> =>
    walk(await slots.list(), {
      loop: 'slots of keys',
      isOver,
      turns,
      async run({ key, tasks: counted }) {
        const found = await tasks.findMany(counted.map(({ task }) => task));
        const statuses = new Map(found.map(({ id, status }) => [id, status]));
        const ended = counted.filter(({ task, since }) => {
          const status = statuses.get(task);
          return status === undefined ? since < now() - admissionMaxMs : isTerminal(status);
        });
        for (const { task } of ended) await slots.release(key, task);
        return ended.length > 0;
      },
      onFailed: ({ key }, error) => onFailed({ key }, error),
    });
}
