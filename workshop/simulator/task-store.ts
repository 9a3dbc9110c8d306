import { z } from 'zod';
import type { Clock } from './clock.ts';
import type { StateFile, StateLine } from './state-file.ts';
import { isFinal, momentOf, type Task } from './task.ts';

interface TaskStoreOptions {
  readonly dialect: string;
  readonly clock: Clock;
  readonly tasksMax: number;
  readonly recordKeptMs: number;
  readonly stateFile?: StateFile | undefined;
}

const sweepSlack = 0.05;

export class TaskStore<Detail> {
  readonly dialect: string;
  readonly #options: TaskStoreOptions;
  readonly #tasks = new Map<string, Task<Detail>>();

  constructor(options: TaskStoreOptions) {
    this.dialect = options.dialect;
    this.#options = options;
    for (const line of options.stateFile?.read(options.dialect) ?? []) this.#restore(line);
    options.stateFile?.keep(() => this.#snapshot());
  }

  get size(): number {
    return this.#tasks.size;
  }

  has(id: string): boolean {
    return this.#tasks.has(id);
  }

  get(id: string): Task<Detail> | undefined {
    const task = this.#tasks.get(id);
    if (task === undefined || !this.#isForgotten(task)) return task;
    this.remove(id);
    return undefined;
  }

  insert(task: Task<Detail>): void {
    this.#tasks.set(task.id, task);
    const { stateFile, tasksMax, dialect } = this.#options;
    stateFile?.append({ dialect, task: { ...task } });
    if (this.#tasks.size > tasksMax * (1 + sweepSlack)) this.#sweep();
  }

  cancel(task: Task<Detail>): void {
    const cancelledAt = this.#options.clock.now();
    task.cancelledAt = cancelledAt;
    this.#options.stateFile?.append({ dialect: this.dialect, id: task.id, cancelledAt });
  }

  remove(id: string): void {
    if (this.#tasks.delete(id)) this.#options.stateFile?.append({ dialect: this.dialect, id, gone: true });
  }

  clear(): void {
    for (const id of Array.from(this.#tasks.keys())) this.remove(id);
  }

  oldestFirst(): Iterable<Task<Detail>> {
    return this.#tasks.values();
  }

  newestFirst(): Task<Detail>[] {
    const known = Array.from(this.#tasks.values()).filter((task) => !this.#isForgotten(task));
    return known.toReversed();
  }

  #isForgotten(task: Task<Detail>): boolean {
    const now = this.#options.clock.now();
    if (now - task.createdAt < this.#options.recordKeptMs && task.cancelledAt === undefined) return false;
    const { phase, since } = momentOf(task, now);
    // A cancelled record is removed after at most a day, however long the dialect keeps other records.
    const kept =
      phase === 'cancelled' ? Math.min(86_400_000, this.#options.recordKeptMs) : this.#options.recordKeptMs;
    return isFinal(phase) && now - since >= kept;
  }

  #sweep(): void {
    const { tasksMax, clock } = this.#options;
    const now = clock.now();
    for (const task of this.#tasks.values()) {
      if (this.#tasks.size <= tasksMax) return;
      if (isFinal(momentOf(task, now).phase)) this.remove(task.id);
    }
    for (const id of this.#tasks.keys()) {
      if (this.#tasks.size <= 2 * tasksMax) return;
      this.remove(id);
    }
  }

  #restore(line: StateLine): void {
    if ('gone' in line) this.#tasks.delete(line.id);
    else if ('cancelledAt' in line) {
      const task = this.#tasks.get(line.id);
      if (task !== undefined) task.cancelledAt = line.cancelledAt;
    } else {
      const task = z.object({ ...storedTask, detail: z.custom<Detail>() }).safeParse(line.task).data;
      if (task !== undefined) this.#tasks.set(task.id, task);
    }
  }

  *#snapshot(): Iterable<StateLine> {
    for (const task of this.#tasks.values()) yield { dialect: this.dialect, task: { ...task } };
  }
}

const storedTask = {
  id: z.string(),
  model: z.string(),
  prompt: z.string(),
  createdAt: z.number(),
  queueMs: z.number(),
  renderMs: z.number(),
  expiresAfterMs: z.number(),
  cancelledAt: z.number().optional(),
  callbackUrl: z.string().optional(),
  faults: z.array(z.string()).optional(),
};
