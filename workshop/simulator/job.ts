import { FaultSet } from './fault.ts';
import { isFinal, momentOf, type Phase, type Task } from './task.ts';
import type { ImageLook, World } from './world.ts';

export interface Rendered {
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly images?: number | undefined;
}

export class Job<Detail extends Rendered = Rendered> {
  readonly task: Task<Detail>;
  readonly world: World;
  readonly now: number;
  readonly phase: Phase;
  readonly since: number;
  readonly faults: FaultSet;

  constructor(task: Task<Detail>, world: World) {
    this.task = task;
    this.world = world;
    this.now = world.now();
    const { phase, since } = momentOf(task, this.now);
    this.phase = phase;
    this.since = since;
    this.faults = FaultSet.of(task.faults);
  }

  get id(): string {
    return this.task.id;
  }

  get model(): string {
    return this.task.model;
  }

  get detail(): Detail {
    return this.task.detail;
  }

  get isOver(): boolean {
    return isFinal(this.phase);
  }

  get startsAt(): number {
    return this.task.createdAt + this.task.queueMs;
  }

  /** Returns the fact, or undefined if the fault `missing-usage` is set. */
  reported<Fact>(fact: Fact): Fact | undefined {
    return this.faults.has('missing-usage') ? undefined : fact;
  }

  billed(amount: number): number {
    return amount * this.faults.usageFactor();
  }

  progress(): number {
    if (this.phase === 'queued') return 0;
    if (this.phase !== 'running' && this.phase !== 'unknown') return 1;
    return Math.min(0.99, (this.now - this.since) / Math.max(1, this.task.renderMs));
  }

  links(options: { lifetimeSeconds?: number; from?: number; look?: Partial<ImageLook> } = {}): string[] {
    const { task, world, detail, faults } = this;
    if (faults.has('missing-url')) return [];
    const { lifetimeSeconds, from = this.since, look } = options;
    const media =
      detail.images === undefined
        ? [world.video(detail, 0, faults)]
        : Array.from({ length: detail.images }, (_, tint) => world.image(detail, { tint, ...look }, faults));
    return media.map((medium) => world.link(task, medium, from, lifetimeSeconds));
  }

  pictureLink(look: Partial<ImageLook>): string {
    const { task, world, detail, faults, since } = this;
    return world.link(task, world.image(detail, look, faults), since);
  }

  picture(look: Partial<ImageLook>): string {
    const { world, detail, faults } = this;
    return world.parts.media.render(world.image(detail, look, faults)).toString('base64');
  }

  pictures(form: string | undefined, options: Parameters<Job['links']>[0] = {}): Record<string, string>[] {
    const { images = 0 } = this.detail;
    const links = form === 'b64_json' ? [] : this.links(options);
    return Array.from({ length: images }, (_, tint) => {
      if (this.faults.has('missing-url')) return {};
      const url = links[tint];
      return url === undefined ? { b64_json: this.picture({ ...options.look, tint }) } : { url };
    });
  }

  file(sample = 0): Buffer {
    return this.world.parts.media.render(this.world.video(this.detail, sample, this.faults));
  }
}

export function inSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
