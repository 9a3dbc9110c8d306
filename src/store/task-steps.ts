import type { Recent } from '../base/recent.ts';
import type { Collection } from 'mongodb';
import { planOutdated } from '../operating/acts.ts';
import { defined } from '../base/defined.ts';
import { next } from '../task/next.ts';
import type { Changes, Next, RefusalCode } from '../task/transition.ts';
import type { Task, TaskActionRecord } from '../task/record.ts';
import type { TaskEvent } from '../task/state.ts';
import { isDuplicateKey, readByWrite, updateWith } from './mongo.ts';
import { withWait } from '../task/state-wait.ts';
import type { NewWait } from '../task/wait.ts';
import { behindOf, type TaskDocument } from './task-document.ts';
import type { TaskForm } from './task-words.ts';

export type Stepped =
  | { readonly ok: true; readonly task: Task }
  /**
   * Nothing was written. `message` is a sentence for people. `job_taken` means that the job belongs to another task.
   */
  | {
      readonly ok: false;
      readonly code: RefusalCode | 'job_taken';
      readonly message: string;
      readonly task: Task;
    }
  | { readonly ok: false; readonly code: 'absent'; readonly message: string; readonly task?: undefined };

/**
 * `rev` is the revision for which the action was planned. The action is refused at any other revision. `rev` itself is
 * not stored.
 */
export interface PlannedAct extends TaskActionRecord {
  readonly rev?: number;
}

export interface TaskStepsDeps {
  readonly tasks: Collection<TaskDocument>;
  readonly hints: Recent<Task>;
  readonly now: () => number;
  readonly form: TaskForm;
}

/**
 * The number of processes that change the same record concurrently is always lower, so more collisions mean that our
 * own code is looping.
 */
const collisionsMax = 50;
const actionsMax = 100;
const afterwards = { returnDocument: 'after' } as const;

/**
 * The only code that changes a task's state. It applies the event to the record it has read and writes the change only
 * if `rev` is still the same. A plain read may be stale, so an event is refused only after the record has been read
 * again with a write.
 */
export function taskSteps(deps: TaskStepsDeps) {
  const { tasks, now, form } = deps;
  const { look, confirm, remember, forget } = createReading(deps);

  async function step(id: string, event: TaskEvent, act?: PlannedAct): Promise<Stepped> {
    let task = await look(id);
    for (let tries = 0; tries < collisionsMax; tries += 1) {
      const decided = task === undefined ? undefined : decide(task, event, { at: now(), act });
      if (task !== undefined && decided?.ok === true && Object.keys(decided.changes).length > 0) {
        const written = await write(task, decided.changes);
        if (written !== undefined) return written;
      } else if (tries > 0) {
        return answer(task, decided);
      }
      task = await confirm(id);
    }
    throw new Error(`the record of ${id} changes faster than it can be written`);
  }

  /** Returns undefined if the record has changed since it was read. */
  async function write(task: Task, changes: Changes): Promise<Stepped | undefined> {
    try {
      const written = await tasks.findOneAndUpdate(asSeen(task), form.updateOf(task, changes), afterwards);
      const after = remember(written);
      return after === undefined ? undefined : { ok: true, task: after };
    } catch (error) {
      if (!isDuplicateKey(error)) {
        // The change may have been written even though an error was returned.
        forget(task.id);
        throw error;
      }
      return { ok: false, code: 'job_taken', message: 'The job belongs to another task.', task };
    }
  }

  async function setWait(id: string, wait: NewWait): Promise<void> {
    let task = await look(id);
    for (let tries = 0; tries < collisionsMax; tries += 1) {
      const at = now();
      const changes = task && withWait(task, wait, at);
      if (task === undefined || changes === undefined) return;
      const { wait: begun, waited } = changes;
      const behind = behindOf({ ...task, wait: begun });
      const $set = { updatedAt: at, ...defined({ wait: begun, waited, behind }) };
      const update = updateWith<TaskDocument>({ $set, $unset: behind === undefined ? { behind: '' } : {} });
      const written = await tasks.findOneAndUpdate(asSeen(task), update, afterwards);
      if (remember(written) !== undefined) return;
      task = await confirm(id);
    }
  }

  return { step, setWait, look, confirm, forget };
}

function createReading({ tasks, hints, form }: TaskStepsDeps) {
  function remember(found: TaskDocument | null): Task | undefined {
    if (found === null) return undefined;
    const task = form.toTask(found);
    // Forget the record, because its result may be large and the task is about to finish.
    if (task.outcome !== undefined) hints.delete(task.id);
    else if ((hints.get(task.id)?.rev ?? task.rev) <= task.rev) hints.set(task.id, task);
    return task;
  }

  /** Reads the record with a write, so that it is current. Use this for decisions that are not followed by a write. */
  async function confirm(id: string): Promise<Task | undefined> {
    return remember(await tasks.findOneAndUpdate({ _id: id }, ...readByWrite));
  }

  /**
   * Returns a record that may be slightly stale, but not older than `rev`. Use this if a later step makes the decision.
   * If it returns undefined, the record certainly does not exist.
   */
  async function look(id: string, rev = 0): Promise<Task | undefined> {
    const hint = hints.get(id);
    if (hint !== undefined && hint.rev >= rev) return hint;
    const found = remember(await tasks.findOne({ _id: id }));
    return found !== undefined && found.rev >= rev ? found : confirm(id);
  }

  return { remember, confirm, look, forget: (id: string): void => void hints.delete(id) };
}

function asSeen({ id, rev, wait }: Task) {
  return { _id: id, rev, 'wait.since': wait?.since ?? null };
}

function answer(task: Task | undefined, decided: Next | undefined): Stepped {
  if (task === undefined || decided === undefined) {
    return { ok: false, code: 'absent', message: 'The task has no record.' };
  }
  return decided.ok ? { ok: true, task } : { ...decided, task };
}

/** If the action is already recorded, it has been carried out, so repeating it changes nothing. */
function decide(
  task: Task,
  event: TaskEvent,
  { at, act }: { readonly at: number; readonly act: PlannedAct | undefined },
): Next {
  if (act === undefined) return next(task, event, at);
  const actions = task.actions ?? [];
  const { rev = task.rev, ...record } = act;
  if (actions.some(({ id, action }) => id === record.id && action === record.action))
    return { ok: true, changes: {} };
  if (rev !== task.rev) return { ok: false, code: 'decided', message: planOutdated };
  const decided = next(task, event, at);
  if (!decided.ok) return decided;
  return { ok: true, changes: { ...decided.changes, actions: [...actions, record].slice(-actionsMax) } };
}
