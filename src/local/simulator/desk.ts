import { disturb } from './disturb.ts';
import type { Problem } from './disturb.ts';
import { FaultSet, parseFault } from './fault.ts';
import type { Stage } from './fault.ts';
import type { Task } from './task.ts';
import type { Reply, WireError, WireRequest } from './wire.ts';
import type { World } from './world.ts';

/** A create as the faults left it: to be validated and answered by the dialect. */
export interface Submission {
  readonly model: string;
  readonly prompt: string;
  readonly faults: FaultSet;
}

/** A create as it arrived, read before anything is validated. */
export interface Asked {
  readonly model: string;
  readonly prompt: string;
  /** Another text in which faults may be named: an end-user id. */
  readonly endUser?: string;
}

/**
 * One of the dialect's errors for each problem. Without `moderated`, the vendor accepts every text and inspects it when
 * the job runs: the fault `moderation` is then the end of the task (`moderation-in-task=input`).
 */
export type Problems = Readonly<Record<Exclude<Problem, 'moderated'>, WireError>> & {
  readonly moderated?: WireError;
};

const countedAs = { poll: 'gets', list: 'lists', delete: 'deletes', media: 'media' } as const;

/** Where one dialect's requests come in: each exchange is counted and runs under its faults. */
export class Desk {
  readonly world: World;
  readonly name: string;
  readonly #problems: Problems;

  constructor(world: World, name: string, problems: Problems) {
    this.world = world;
    this.name = name;
    this.#problems = problems;
  }

  /** A problem in the dialect's own words. */
  readonly problems = (problem: Problem): Reply =>
    (this.#problems[problem] ?? this.#problems.internal).reply(this.world.now());

  /** Runs `act` unless a fault refuses the create; faults stand in the model, the prompt, the header or a rule. */
  create(
    request: WireRequest,
    asked: Asked,
    act: (submission: Submission) => Reply | Promise<Reply>,
  ): Promise<Reply> {
    const { faults, statistics } = this.world.parts;
    const { prompt, endUser = '' } = asked;
    statistics.countPrompt('submits', prompt);
    const exchange = { ...this.#exchange('create', request), model: asked.model, prompt };
    const { model, now, task } = this.#inspectLater(faults.onCreate(exchange, [prompt, endUser]));
    return disturb(now, this.problems, () => act({ model, prompt, faults: task }));
  }

  /** To be called once for each create that led to a task or a picture. */
  countCreate({ prompt }: { readonly prompt: string }): void {
    this.world.parts.statistics.countPrompt('creates', prompt);
  }

  /** Any later exchange, under the faults that concern it and the tasks it is about. */
  protected later(
    exchange: { readonly stage: keyof typeof countedAs; readonly request: WireRequest },
    tasks: readonly Task<unknown>[],
    act: (faults: FaultSet) => Reply | Promise<Reply>,
  ): Promise<Reply> {
    const { faults, statistics } = this.world.parts;
    const { stage, request } = exchange;
    statistics.count(countedAs[stage]);
    const { model = '', prompt = '' } = tasks[0] ?? {};
    const applied = faults.onLater({ ...this.#exchange(stage, request), model, prompt }, tasks);
    return disturb(applied, this.problems, () => act(applied));
  }

  #inspectLater(struck: { readonly model: string; readonly now: FaultSet; readonly task: FaultSet }) {
    if (this.#problems.moderated !== undefined || !struck.now.has('moderation')) return struck;
    return {
      model: struck.model,
      now: new FaultSet(struck.now.all.filter(({ name }) => name !== 'moderation')),
      task: new FaultSet([...struck.task.all, parseFault('moderation-in-task=input')]),
    };
  }

  #exchange(stage: Stage, { headers, method, path }: WireRequest) {
    const header = headers['x-simulate'];
    return {
      dialect: this.name,
      stage,
      method,
      path,
      header: Array.isArray(header) ? header.join(',') : header,
    };
  }
}
