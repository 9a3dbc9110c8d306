import { defined } from '../../src/base/defined.ts';
import { next } from '../../src/task/next.ts';
import type { Task, TaskActionRecord } from '../../src/task/record.ts';
import type { TaskEvent } from '../../src/task/state.ts';
import type { TaskInput } from '../../src/task/input.ts';
import { updateOf } from '../../src/store/task-document.ts';
import type { Stepped } from '../../src/store/task-steps.ts';

export class PlayedRecords {
  private readonly tasks = new Map<string, Task>();
  readonly changes = new Map<string, string[]>();

  create(input: TaskInput): void {
    const { task: id, account, key, kind, model, candidates, deadlineAt, hold, hasCallback } = input;
    const at = Date.now();
    const given = { id, account, key, kind, model, plan: { candidates }, deadlineAt, hasCallback };
    const begun = {
      createdAt: at,
      output: '',
      rev: 0,
      stateSince: at,
      status: 'pending',
      attempts: [],
    } as const;
    this.tasks.set(id, {
      ...given,
      ...begun,
      hold: BigInt(hold),
      state: { at: 'queued', round: 1, left: candidates, full: [] },
      updatedAt: at,
      traceId: '',
    });
    this.changes.set(id, []);
  }

  of(id: string): Task {
    const task = this.tasks.get(id);
    if (task === undefined) throw new Error(`${id} has no record`);
    return task;
  }

  put(id: string, changes: Partial<Task>): void {
    this.tasks.set(id, { ...this.of(id), ...changes, rev: this.of(id).rev + 1 });
  }

  /** As if MongoDB had been restored from a backup. */
  restore(task: Task): void {
    this.tasks.set(task.id, task);
  }

  remove(id: string): void {
    this.tasks.delete(id);
  }

  readonly look = async (id: string): Promise<Task | undefined> => this.tasks.get(id);
  readonly confirm = this.look;
  readonly forget = (): void => undefined;
  readonly ownerOf = async (): Promise<undefined> => undefined;
  readonly setConcern = async (): Promise<boolean> => true;

  readonly step = async (id: string, event: TaskEvent, act?: TaskActionRecord): Promise<Stepped> => {
    const task = this.tasks.get(id);
    if (task === undefined) return { ok: false, code: 'absent', message: 'The task has no record.' };
    if (act !== undefined && task.actions?.some((record) => record.id === act.id) === true)
      return { ok: true, task };
    const decided = next(task, event, Date.now());
    if (!decided.ok) return { ...decided, task };
    const changes =
      act === undefined ? decided.changes : { ...decided.changes, actions: [...(task.actions ?? []), act] };
    if (Object.keys(changes).length === 0) return { ok: true, task };
    const { $set, $unset = {} } = updateOf(task, changes);
    const gone = Object.fromEntries(Object.keys($unset).map((name) => [name, undefined]));
    const after: Task = defined({ ...task, ...$set, ...gone, rev: task.rev + 1 });
    this.tasks.set(id, after);
    this.changes.get(id)?.push(`${event.kind} ${after.state.at}`);
    return { ok: true, task: after };
  };
}
