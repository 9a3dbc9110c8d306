import type { z } from 'zod';
import { Desk } from './desk.ts';
import type { Problems, Submission } from './desk.ts';
import type { Call } from './dialect.ts';
import { FaultSet } from './fault.ts';
import { momentOf, nextChangeAt } from './task.ts';
import type { Task } from './task.ts';
import type { TaskStore } from './task-store.ts';
import type { Reply, WireRequest } from './wire.ts';
import type { World } from './world.ts';

export interface JobFormat<Detail> {
  readonly name: string;
  readonly problems: Problems;
  /** What a task has to remember of its request; it survives a restart through the state file. */
  readonly detail: z.ZodType<Detail>;
  /** How long a finished record can be asked for. */
  readonly recordKeptMs: number;
  /** How long any record can be asked for, whatever became of it; without a limit, when absent. */
  readonly knownForMs?: number;
  /**
   * The body of a callback, sent at each change of status to the address that a task names; undefined: of this change
   * the vendor says nothing.
   */
  readonly callbackBody?: (task: Task<Detail>) => unknown;
  /** Headers over a callback's body, where the vendor signs: with a secret of the account, or of the task. */
  readonly callbackHeaders?: (body: string, task: Task<Detail>) => Readonly<Record<string, string>>;
}

export interface JobOrder<Detail> {
  readonly id: string;
  readonly detail: Detail;
  readonly expiresAfterMs: number;
  /** The name that the answers give the model, where it is not the one that was asked for. */
  readonly model?: string;
  readonly callbackUrl?: string | undefined;
}

/** The task that the route names, or the one that the dialect found; undefined: this route has no such task. */
type Subject<Detail> = Call | { readonly request: WireRequest; readonly task: Task<Detail> | undefined };

/** A desk whose creates become tasks that are asked for later. */
export class JobDesk<Detail> extends Desk {
  readonly #format: JobFormat<Detail>;
  readonly #store: TaskStore<Detail>;

  constructor(world: World, format: JobFormat<Detail>) {
    super(world, format.name, format.problems);
    this.#format = format;
    this.#store = world.store(format.name, format.detail, format.recordKeptMs);
    for (const task of this.#store.oldestFirst()) this.#watch(task);
  }

  /** Accepts a task: it is kept, counted and announced to its callback. */
  async accept(submission: Submission, order: JobOrder<Detail>): Promise<Task<Detail>> {
    const task = this.draft(submission, order);
    this.#store.insert(task);
    this.countCreate(task);
    const announced = this.#announce(task);
    this.#watch(task);
    if (FaultSet.of(task.faults).has('callback-early')) await announced;
    return task;
  }

  /** A task that is answered at once and never queried. */
  draft({ model, prompt, faults }: Submission, order: JobOrder<Detail>): Task<Detail> {
    return { model, prompt, ...this.world.times(faults), faults: faults.sources(), ...order };
  }

  /** What `make` makes, again and again, until no other job has it. */
  newId(make: () => string): string {
    for (;;) {
      const id = make();
      if (!this.#store.has(id)) return id;
    }
  }

  /** The task, unless its record is forgotten; with `vanishes`, it is lost once the rendering began. */
  find(id: string): Task<Detail> | undefined {
    const task = this.#store.get(id);
    return task === undefined || this.#isLost(task) ? undefined : task;
  }

  /** Every task that `find` would find. */
  newestFirst(): Task<Detail>[] {
    return this.#store.newestFirst().filter((task) => !this.#isLost(task));
  }

  #isLost(task: Task<Detail>): boolean {
    const now = this.world.now();
    if (now - task.createdAt >= (this.#format.knownForMs ?? Number.POSITIVE_INFINITY)) return true;
    return FaultSet.of(task.faults).has('vanishes') && momentOf(task, now).phase !== 'queued';
  }

  cancel(task: Task<Detail>): void {
    this.#store.cancel(task);
  }

  remove({ id }: Task<Detail>): void {
    this.#store.remove(id);
  }

  /** Answers an exchange about one task; `missing` is the dialect's 404, unless given. */
  about(
    stage: 'poll' | 'delete' | 'media',
    subject: Subject<Detail>,
    answers: {
      readonly found: (task: Task<Detail>, faults: FaultSet) => Reply;
      readonly missing?: () => Reply;
    },
  ): Promise<Reply> {
    const { found, missing = () => this.problems('not-found') } = answers;
    const { request } = subject;
    const task = 'task' in subject ? subject.task : this.find(subject.id);
    return this.later({ stage, request }, task === undefined ? [] : [task], (faults) =>
      task === undefined ? missing() : found(task, faults),
    );
  }

  /** Answers an exchange about many tasks; `named` are those that the caller asked for by their ids. */
  list(
    { request }: Call,
    named: readonly Task<Detail>[],
    answer: (faults: FaultSet) => Reply,
  ): Promise<Reply> {
    return this.later({ stage: 'list', request }, named, answer);
  }

  /** Calls back at each change of status from now on. */
  #watch(task: Task<Detail>): void {
    if (task.callbackUrl === undefined) return;
    const { clock } = this.world.parts;
    const at = nextChangeAt(task, clock.now());
    if (at === undefined || !Number.isFinite(at)) return;
    clock.at(at, () => {
      if (this.#store.get(task.id) !== task || task.cancelledAt !== undefined) return;
      void this.#announce(task);
      this.#watch(task);
    });
  }

  async #announce(task: Task<Detail>): Promise<void> {
    const { callbackBody, callbackHeaders } = this.#format;
    const faults = FaultSet.of(task.faults);
    if (task.callbackUrl === undefined || callbackBody === undefined || faults.has('callback-never')) return;
    const { callbackUrl: url } = task;
    // A second delivery is written anew: some vendors give each an id of its own.
    const deliver = async (): Promise<void> => {
      const content = callbackBody(task);
      if (content === undefined) return;
      const body = JSON.stringify(content);
      const headers = callbackHeaders?.(body, task) ?? {};
      const failing = faults.has('callback-failing');
      await this.world.parts.callbacks.deliver({ url, body, headers, failing });
    };
    await Promise.all(Array.from({ length: faults.has('callback-twice') ? 2 : 1 }, deliver));
  }
}
