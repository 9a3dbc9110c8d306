import { framesPerSecond } from './media/clips.ts';
import type { CallbackSender } from './callbacks.ts';
import type { Clock } from './clock.ts';
import { FaultSet, type Fault } from './fault.ts';
import type { FaultBook } from './fault-book.ts';
import type { MediaShelf } from './media/media-shelf.ts';
import type { MediaFormat, Medium } from './media/medium.ts';
import type { Size } from './sizes.ts';
import type { StateFile } from './state-file.ts';
import type { Statistics } from './statistics.ts';
import { TaskStore } from './task-store.ts';

export interface WorldParts {
  readonly clock: Clock;
  readonly faults: FaultBook;
  readonly statistics: Statistics;
  readonly media: MediaShelf;
  readonly callbacks: CallbackSender;
  readonly apiKeys: readonly string[] | undefined;
  readonly tasksMax: number;
  readonly jobsAtOnceMax: number | undefined;
  readonly stateFile: StateFile | undefined;
  renderSeconds: number;
  /** The origin of result links. It is known only once the server is listening. */
  origin: string;
}

export interface ImageLook {
  readonly format: Exclude<MediaFormat, 'mp4'>;
  readonly tint: number;
  readonly marked: boolean;
}

const queueShare = 1 / 8;

const pictureShare = 1 / 8;

export class World {
  readonly parts: WorldParts;
  readonly stores: TaskStore<unknown>[] = [];

  constructor(parts: WorldParts) {
    this.parts = parts;
  }

  now(): number {
    return this.parts.clock.now();
  }

  store<Detail>(dialect: string, recordKeptMs: number): TaskStore<Detail> {
    const { clock, tasksMax, stateFile } = this.parts;
    const store = new TaskStore<Detail>({ dialect, clock, tasksMax, recordKeptMs, stateFile });
    this.stores.push(store);
    return store;
  }

  accepts(key: string | undefined): boolean {
    return key !== undefined && (this.parts.apiKeys?.includes(key) ?? true);
  }

  times(faults: FaultSet): { createdAt: number; queueMs: number; renderMs: number } {
    const total = (faults.number('render') ?? this.parts.renderSeconds) * 1000;
    const queue = faults.number('queue');
    const queueMs = queue === undefined ? total * queueShare : queue * 1000;
    return { createdAt: this.now(), queueMs, renderMs: queue === undefined ? total - queueMs : total };
  }

  paintSeconds(faults: FaultSet): number {
    return faults.number('render') ?? this.parts.renderSeconds * pictureShare;
  }

  image({ width, height }: Size, look: Partial<ImageLook>, faults: FaultSet): Medium {
    const usual = { format: 'png', tint: 0, marked: false } as const;
    return { ...usual, ...look, width, height, frames: 0, bytes: faults.number('bytes') ?? 0 };
  }

  video(
    { width, height, seconds }: Size & { readonly seconds: number },
    tint: number,
    faults: FaultSet,
  ): Medium {
    const frames = Math.round(seconds * framesPerSecond);
    return { format: 'mp4', width, height, frames, tint, marked: false, bytes: faults.number('bytes') ?? 0 };
  }

  private readonly faultyLinks = new Map<string, number>();

  /**
   * Returns a link that contains the task's `url-403` and `media:` faults. A fault with `*1` is only in the first link.
   */
  link(
    task: { id: string; faults?: readonly string[] | undefined },
    medium: Medium,
    issuedAt: number,
    lifetimeSeconds = 86_400,
  ): string {
    const faults = FaultSet.of(task.faults)
      .all.filter((fault) => fault.stage === 'media' || fault.name === 'url-403')
      .filter((fault) => this.isFaultyLink(task.id, fault))
      .map(({ name, source }) => (name === 'url-403' ? 'media:403' : source));
    const link = { medium, name: task.id, issuedAt, lifetimeSeconds, faults };
    return this.parts.media.link(this.parts.origin, link);
  }

  refusesFile({ id, faults }: { id: string; faults?: readonly string[] | undefined }): boolean {
    return FaultSet.of(faults).all.some((fault) => fault.name === 'url-403' && this.isFaultyLink(id, fault));
  }

  private isFaultyLink(task: string, { name, times }: Fault): boolean {
    if (name !== 'url-403' || times === undefined) return true;
    const issued = (this.faultyLinks.get(task) ?? 0) + 1;
    this.faultyLinks.set(task, issued);
    return issued <= times;
  }
}
