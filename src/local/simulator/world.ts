import type { z } from 'zod';
import type { CallbackSender } from './callbacks.ts';
import type { Clock } from './clock.ts';
import { disturb, pause } from './disturb.ts';
import type { ProblemReplies } from './disturb.ts';
import { FaultSet } from './fault.ts';
import type { FaultBook } from './fault-book.ts';
import type { Fault, Stage } from './fault.ts';
import type { MediaShelf } from './media/media-shelf.ts';
import type { MediaFormat, Medium } from './media/medium.ts';
import type { StateFile } from './state-file.ts';
import type { Statistics } from './statistics.ts';
import { TaskStore } from './task-store.ts';
import type { Task } from './task.ts';
import { bearerToken } from './wire.ts';
import type { Reply, WireRequest } from './wire.ts';

/** A provider's wire format: everything below `prefix` is its own. */
export interface Dialect {
  readonly name: string;
  readonly prefix: string;
  handle(request: WireRequest): Reply | Promise<Reply>;
}

export type CreateDialect = (world: World) => Dialect;

export interface WorldParts {
  readonly clock: Clock;
  readonly faults: FaultBook;
  readonly statistics: Statistics;
  readonly media: MediaShelf;
  readonly callbacks: CallbackSender;
  /** Accepted keys; any key that is not empty, when absent. */
  readonly apiKeys: readonly string[] | undefined;
  readonly tasksMax: number;
  readonly stateFile: StateFile | undefined;
  renderSeconds: number;
  /** Where result links point to; known once the server listens. */
  origin: string;
}

/** A create as the faults left it: to be validated and answered by the dialect. */
export interface Submission {
  readonly model: string;
  readonly prompt: string;
  readonly faults: FaultSet;
}

export interface ImageLook {
  readonly format: Exclude<MediaFormat, 'mp4'>;
  readonly tint: number;
  readonly marked: boolean;
}

/** Share of the render time that a task waits in the queue, unless `queue=` says otherwise. */
const queueShare = 1 / 8;

/** Share of the render time that a synchronous picture takes. */
const pictureShare = 1 / 8;

/** What every dialect works with. */
export class World {
  readonly parts: WorldParts;
  readonly stores: {
    readonly dialect: string;
    readonly tasks: () => Iterable<Task<unknown>>;
    readonly size: () => number;
    readonly clear: () => void;
  }[] = [];

  constructor(parts: WorldParts) {
    this.parts = parts;
  }

  now(): number {
    return this.parts.clock.now();
  }

  store<Detail>(dialect: string, detail: z.ZodType<Detail>, recordKeptMs: number): TaskStore<Detail> {
    const { clock, tasksMax, stateFile } = this.parts;
    const store = new TaskStore({ dialect, clock, tasksMax, recordKeptMs, detail, stateFile });
    this.stores.push({
      dialect,
      tasks: () => store.oldestFirst(),
      size: () => store.size,
      clear: () => {
        store.clear();
      },
    });
    return store;
  }

  isAuthorised(request: WireRequest): boolean {
    const token = bearerToken(request);
    return token !== undefined && (this.parts.apiKeys?.includes(token) ?? true);
  }

  /** Times of a new task: `render=` and `queue=` in its faults, else the simulator's setting. */
  times(faults: FaultSet): { createdAt: number; queueMs: number; renderMs: number } {
    const total = (faults.number('render') ?? this.parts.renderSeconds) * 1000;
    const queue = faults.number('queue');
    const queueMs = queue === undefined ? total * queueShare : queue * 1000;
    return { createdAt: this.now(), queueMs, renderMs: queue === undefined ? total - queueMs : total };
  }

  /** How long a synchronous picture takes, in real time: `render=`, else an eighth of a video's time. */
  async paint(faults: FaultSet): Promise<void> {
    const seconds = faults.number('render') ?? this.parts.renderSeconds * pictureShare;
    if (seconds > 0) await pause(seconds);
  }

  /** A create under its faults: `texts` are where markers may stand (the prompt, an end-user id). */
  async create(
    dialect: string,
    request: WireRequest,
    asked: {
      readonly model: string;
      readonly prompt: string;
      readonly texts: readonly string[];
      readonly problems: ProblemReplies;
    },
    act: (submission: Submission) => Reply | Promise<Reply>,
  ): Promise<Reply> {
    const { faults, statistics } = this.parts;
    statistics.countPrompt('submits', asked.prompt);
    const exchange = {
      ...this.#exchange(dialect, 'create', request),
      model: asked.model,
      prompt: asked.prompt,
    };
    const { model, now, task } = faults.onCreate(exchange, asked.texts);
    return disturb(now, asked.problems, () => act({ model, prompt: asked.prompt, faults: task }));
  }

  /** Any other exchange under the faults that concern it and the tasks it is about. */
  async later(
    stage: Stage,
    request: WireRequest,
    about: {
      readonly dialect: string;
      readonly tasks: readonly Task<unknown>[];
      readonly problems: ProblemReplies;
    },
    act: (faults: FaultSet) => Reply | Promise<Reply>,
  ): Promise<Reply> {
    const first = about.tasks[0];
    const exchange = {
      ...this.#exchange(about.dialect, stage, request),
      model: first?.model ?? '',
      prompt: first?.prompt ?? '',
    };
    const faults = this.parts.faults.onLater(exchange, about.tasks);
    return disturb(faults, about.problems, () => act(faults));
  }

  /** An image that was asked for, to be rendered or linked to. */
  image(
    size: { readonly width: number; readonly height: number },
    look: ImageLook,
    faults: FaultSet,
  ): Medium {
    return { ...size, ...look, frames: 0, bytes: faults.number('bytes') ?? 0 };
  }

  /** A result link; a task's `url-403` and `media:` faults travel in it. */
  link(
    task: { id: string; faults?: readonly string[] | undefined },
    medium: Medium,
    issuedAt: number,
    lifetimeSeconds = 86_400,
  ): string {
    const faults = FaultSet.of(task.faults).all.filter(
      (fault) => fault.stage === 'media' || fault.name === 'url-403',
    );
    const sources = faults.map(mediaFault);
    return this.parts.media.link(this.parts.origin, {
      medium,
      name: task.id,
      issuedAt,
      lifetimeSeconds,
      faults: sources,
    });
  }

  #exchange(dialect: string, stage: Stage, request: WireRequest) {
    const header = request.headers['x-simulate'];
    return {
      dialect,
      stage,
      method: request.method,
      path: request.path,
      header: Array.isArray(header) ? header.join(',') : header,
    };
  }
}

function mediaFault(fault: Fault): string {
  return fault.name === 'url-403' ? 'media:403' : fault.source;
}
