import type { z } from 'zod';
import { disturb, pause, type Problem } from './disturb.ts';
import { FaultSet, parseFault, type Stage } from './fault.ts';
import { Job, type Rendered } from './job.ts';
import { nextChangeAt, type Task } from './task.ts';
import type { TaskStore } from './task-store.ts';
import { check, json, parseJson } from './wire.ts';
import type { Mistake, Reply, WireError, WireRequest } from './wire.ts';
import type { World } from './world.ts';

/**
 * Maps each problem to the dialect's error. `moderated` is undefined if the vendor accepts any text and inspects it
 * when the job runs. The fault `moderation` then fails the task, like `moderation-in-task=input`.
 */
export type Problems = Readonly<Record<Exclude<Problem, 'moderated'>, WireError>> & {
  readonly moderated?: WireError;
};

export interface Call {
  readonly request: WireRequest;
  readonly id: string;
}

export type Handler = (call: Call) => Reply | Promise<Reply>;

export interface Format<Detail extends Rendered> {
  readonly name: string;
  readonly prefix: string;
  readonly problems: Problems;
  readonly mistake: (mistake: Mistake) => WireError;
  readonly routes: (desk: Desk<Detail>) => Readonly<Record<string, Handler>>;
  readonly noSuchRoute?: (request: WireRequest) => WireError;
  readonly keyOf?: (request: WireRequest, world: World) => string | undefined;
  readonly finish?: (reply: Reply) => Reply;
  /** How long a finished record can be queried. Defaults to 7 days. */
  readonly keptMs?: number;
  readonly knownForMs?: number;
  /** How long an unfinished job may exist before it expires. Defaults to 2 days. */
  readonly expiresAfterMs?: number;
  readonly callbackBody?: (job: Job<Detail>) => unknown;
  /** Set only if the vendor signs callbacks with the account's or the task's secret. */
  readonly callbackHeaders?: (body: string, job: Job<Detail>) => Readonly<Record<string, string>>;
}

export interface Asked {
  readonly model: string;
  readonly prompt: string;
  /** Like the prompt, this may contain faults. */
  readonly endUser?: string;
  readonly moderated?: WireError;
}

export interface Submission {
  readonly model: string;
  readonly prompt: string;
  readonly faults: FaultSet;
}

export interface Order<Detail> {
  readonly id: string;
  readonly detail: Detail;
  readonly expiresAfterMs?: number;
  readonly model?: string;
  readonly callbackUrl?: string | null | undefined;
}

type Subject<Detail extends Rendered> =
  | Call
  | { readonly request: WireRequest; readonly job: Job<Detail> | undefined };

const dayMs = 86_400_000;
const countedAs = { poll: 'gets', list: 'lists', delete: 'deletes', media: 'media' } as const;

export class Desk<Detail extends Rendered> {
  readonly world: World;
  readonly #format: Format<Detail>;
  readonly #store: TaskStore<Detail>;

  constructor(world: World, format: Format<Detail>) {
    this.world = world;
    this.#format = format;
    this.#store = world.store<Detail>(format.name, format.keptMs ?? 7 * dayMs);
    for (const task of this.#store.oldestFirst()) this.#watch(task);
  }

  problem(problem: Problem, moderated = this.#format.problems.moderated): Reply {
    const { problems } = this.#format;
    const error = problem === 'moderated' ? (moderated ?? problems.internal) : problems[problem];
    return error.reply(this.world.now());
  }

  /** @throws {WireError} If the body is not JSON or violates the schema. */
  read<Body>(schema: z.ZodType<Body>, { body }: WireRequest): Body {
    return check(schema, parseJson(body), this.#format.mistake);
  }

  create(
    request: WireRequest,
    asked: Asked,
    act: (submission: Submission) => Reply | Promise<Reply>,
  ): Promise<Reply> {
    const { faults, statistics } = this.world.parts;
    const { prompt, endUser = '', moderated = this.#format.problems.moderated } = asked;
    statistics.countPrompt('submits', prompt);
    const exchange = { ...this.#exchange('create', request), model: asked.model, prompt };
    const struck = faults.onCreate(exchange, [prompt, endUser]);
    const { model, now, task } = moderated === undefined ? inspectLater(struck) : struck;
    return disturb(
      now,
      (problem) => this.problem(problem, moderated),
      () => act({ model, prompt, faults: task }),
    );
  }

  creates<Body extends Asked>(
    schema: z.ZodType<Body>,
    order: (body: Body, submission: Submission) => Order<Detail> | Promise<Order<Detail>>,
    answer: (job: Job<Detail>) => Reply,
  ): Handler {
    return ({ request }) => {
      const body = this.read(schema, request);
      return this.create(request, body, async (submission) =>
        answer(await this.accept(submission, await order(body, submission))),
      );
    };
  }

  async accept(submission: Submission, order: Order<Detail>): Promise<Job<Detail>> {
    const { task, faults } = this.#draft(submission, order);
    this.#store.insert(task);
    this.world.parts.statistics.countPrompt('creates', task.prompt);
    const announced = this.#announce(task);
    this.#watch(task);
    if (faults.has('callback-early')) await announced;
    return this.#seen(task);
  }

  async paint(submission: Submission, order: Order<Detail>, refused?: WireError): Promise<Job<Detail>> {
    const { faults } = submission;
    const seconds = this.world.paintSeconds(faults);
    if (seconds > 0) await pause(seconds);
    if (refused !== undefined) {
      if (faults.has('item-moderation') || faults.has('moderation-in-task')) throw refused;
      if (faults.has('item-error') || faults.has('failed')) throw this.#format.problems.internal;
    }
    this.world.parts.statistics.countPrompt('creates', submission.prompt);
    return this.#draft(submission, order);
  }

  #draft({ model, prompt, faults }: Submission, order: Order<Detail>): Job<Detail> {
    const { expiresAfterMs = 2 * dayMs } = this.#format;
    const callbackUrl = order.callbackUrl ?? undefined;
    const times = { ...this.world.times(faults), expiresAfterMs };
    return this.#seen({ model, prompt, ...times, faults: faults.sources(), ...order, callbackUrl });
  }

  #seen(task: Task<Detail>): Job<Detail> {
    return new Job(task, this.world);
  }

  newId(make: () => string): string {
    for (;;) {
      const id = make();
      if (!this.#store.has(id)) return id;
    }
  }

  /**
   * Returns undefined if the record has been removed. With the fault `vanishes`, the job is lost once its rendering has
   * started.
   */
  find(id: string): Job<Detail> | undefined {
    const task = this.#store.get(id);
    const job = task === undefined ? undefined : this.#seen(task);
    return job === undefined || this.#isLost(job) ? undefined : job;
  }

  newestFirst(): Job<Detail>[] {
    return this.#store
      .newestFirst()
      .map((task) => this.#seen(task))
      .filter((job) => !this.#isLost(job));
  }

  isFull(most: number, model?: string): boolean {
    const inFlight = this.newestFirst().filter(
      (job) => !job.isOver && (model === undefined || job.model === model),
    );
    return inFlight.length >= (this.world.parts.jobsAtOnceMax ?? most);
  }

  #isLost({ now, task, phase, faults }: Job<Detail>): boolean {
    if (now - task.createdAt >= (this.#format.knownForMs ?? Number.POSITIVE_INFINITY)) return true;
    return faults.has('vanishes') && phase !== 'queued';
  }

  cancel({ task }: Job<Detail>): Job<Detail> {
    this.#store.cancel(task);
    return this.#seen(task);
  }

  remove({ id }: Job<Detail>): void {
    this.#store.remove(id);
  }

  about(
    stage: 'poll' | 'delete' | 'media',
    subject: Subject<Detail>,
    found: (job: Job<Detail>, faults: FaultSet) => Reply,
    missing: () => Reply = () => this.problem('not-found'),
  ): Promise<Reply> {
    const job = 'job' in subject ? subject.job : this.find(subject.id);
    return this.#later({ stage, request: subject.request }, job === undefined ? [] : [job], (faults) =>
      job === undefined ? missing() : found(job, faults),
    );
  }

  shows(present: (job: Job<Detail>) => unknown): Handler {
    return (call) => this.about('poll', call, (job) => json(200, present(job)));
  }

  list(
    { request }: Call,
    named: readonly Job<Detail>[],
    answer: (faults: FaultSet) => Reply,
  ): Promise<Reply> {
    return this.#later({ stage: 'list', request }, named, answer);
  }

  #later(
    exchange: { readonly stage: keyof typeof countedAs; readonly request: WireRequest },
    jobs: readonly Job<Detail>[],
    act: (faults: FaultSet) => Reply | Promise<Reply>,
  ): Promise<Reply> {
    const { faults, statistics } = this.world.parts;
    const { stage, request } = exchange;
    statistics.count(countedAs[stage]);
    const tasks = jobs.map(({ task }) => task);
    const { model = '', prompt = '' } = tasks[0] ?? {};
    const applied = faults.onLater({ ...this.#exchange(stage, request), model, prompt }, tasks);
    return disturb(
      applied,
      (problem) => this.problem(problem),
      () => act(applied),
    );
  }

  #exchange(stage: Stage, { headers, method, path }: WireRequest) {
    const header = headers['x-simulate'];
    const marks = Array.isArray(header) ? header.join(',') : header;
    return { dialect: this.#format.name, stage, method, path, header: marks };
  }

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
    const { callbackUrl: url } = task;
    const { faults } = this.#seen(task);
    if (url === undefined || callbackBody === undefined || faults.has('callback-never')) return;
    // Every delivery builds its own body and headers, because some vendors give each delivery a new id.
    const deliver = async (): Promise<void> => {
      const job = this.#seen(task);
      const content = callbackBody(job);
      if (content === undefined) return;
      const body = JSON.stringify(content);
      const headers = callbackHeaders?.(body, job) ?? {};
      const failing = faults.has('callback-failing');
      await this.world.parts.callbacks.deliver({ url, body, headers, failing });
    };
    await Promise.all(Array.from({ length: faults.has('callback-twice') ? 2 : 1 }, deliver));
  }
}

function inspectLater(struck: { readonly model: string; readonly now: FaultSet; readonly task: FaultSet }) {
  if (!struck.now.has('moderation')) return struck;
  return {
    model: struck.model,
    now: new FaultSet(struck.now.all.filter(({ name }) => name !== 'moderation')),
    task: new FaultSet([...struck.task.all, parseFault('moderation-in-task=input')]),
  };
}
