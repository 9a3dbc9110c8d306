import { z } from 'zod';
import { FaultSet } from './fault.ts';
import { momentOf } from './task.ts';
import type { Phase, Task } from './task.ts';
import { json } from './wire.ts';
import type { Reply } from './wire.ts';
import type { ImageLook, World } from './world.ts';

/** What every detail holds: the pixels, the length of a video, or how many images there are. */
export const rendered = {
  width: z.number(),
  height: z.number(),
  /** Of a video. */
  seconds: z.number(),
  /** 0: it is a video. */
  images: z.number(),
};
type Rendered = z.infer<z.ZodObject<typeof rendered>>;

/** A task as it is now: all that an answer is written from. What is undefined is left out of an answer. */
export class Job<Detail extends Rendered> {
  readonly task: Task<Detail>;
  readonly world: World;
  readonly now: number;
  readonly phase: Phase;
  /** When the phase began, milliseconds since 1970. */
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

  get detail(): Detail {
    return this.task.detail;
  }

  /** What was consumed; undefined with `missing-usage`. */
  reported<Fact>(fact: Fact): Fact | undefined {
    return this.faults.has('missing-usage') ? undefined : fact;
  }

  /** An amount as it is billed: more with `usage-above`. */
  billed(amount: number): number {
    return amount * this.faults.usageFactor();
  }

  /** Share of the rendering that is over, 0 to 1. */
  progress(): number {
    if (this.phase === 'queued') return 0;
    if (this.phase !== 'running' && this.phase !== 'unknown') return 1;
    return Math.min(0.99, (this.now - this.since) / Math.max(1, this.task.renderMs));
  }

  /** Links to the files, valid from the end of the job unless `from` says otherwise; none with `missing-url`. */
  links(options: { lifetimeSeconds?: number; from?: number; look?: Partial<ImageLook> } = {}): string[] {
    const { task, world, detail, faults } = this;
    if (faults.has('missing-url')) return [];
    const { lifetimeSeconds, from = this.since, look } = options;
    const media =
      detail.images === 0
        ? [world.video(detail, 0, faults)]
        : Array.from({ length: detail.images }, (_, tint) =>
            world.image(detail, { format: 'png', tint, marked: false, ...look }, faults),
          );
    return media.map((medium) => world.link(task, medium, from, lifetimeSeconds));
  }

  /** The bytes of the video. */
  file(sample = 0): Buffer {
    return this.world.parts.media.render(this.world.video(this.detail, sample, this.faults));
  }
}

/** Answers about a task that is known: status 200, and what `present` makes of it. */
export function shown<Detail extends Rendered>(world: World, present: (job: Job<Detail>) => unknown) {
  return { found: (task: Task<Detail>): Reply => json(200, present(new Job(task, world))) };
}

export function inSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
