import { z } from 'zod';
import { UnknownFault } from './fault.ts';
import type { FaultRule } from './fault-book.ts';
import type { Counts, PromptCounts } from './statistics.ts';
import { momentOf, type Phase } from './task.ts';
import { json, parseJson, type Reply, type WireRequest } from './wire.ts';
import type { World } from './world.ts';

export interface TaskSummary {
  readonly id: string;
  readonly dialect: string;
  readonly model: string;
  readonly prompt: string;
  readonly phase: Phase;
  readonly created_at: number;
}

export interface Control {
  addFault(rule: FaultRule): void;
  faults(): readonly FaultRule[];
  clearFaults(): void;
  stats(): Counts & { readonly tasks: number };
  submissions(part: string): PromptCounts;
  tasks(part?: string): readonly TaskSummary[];
  setRenderSeconds(seconds: number): void;
  advance(seconds: number): void;
  reset(): void;
}

export function createControl(world: World): Control {
  const { clock, faults, statistics } = world.parts;
  return {
    addFault(rule) {
      faults.add(rule);
    },
    faults: () => faults.list(),
    clearFaults() {
      faults.clear();
    },
    stats() {
      return { ...statistics.counts(), tasks: world.stores.reduce((sum, store) => sum + store.size, 0) };
    },
    submissions: (part) => statistics.ofPrompt(part),
    tasks: (part = '') => summaries(world, part),
    setRenderSeconds(seconds) {
      world.parts.renderSeconds = seconds;
    },
    advance(seconds) {
      clock.advance(seconds * 1000);
    },
    reset() {
      for (const store of world.stores) store.clear();
      faults.clear();
      statistics.reset();
    },
  };
}

function summaries(world: World, part: string): TaskSummary[] {
  const now = world.now();
  return world.stores.flatMap((store) =>
    Array.from(store.oldestFirst())
      .filter(({ prompt }) => prompt.includes(part))
      .map((task) => {
        const { id, model, prompt, createdAt } = task;
        const { phase } = momentOf(task, now);
        const created_at = Math.floor(createdAt / 1000);
        return { id, dialect: store.dialect, model, prompt, phase, created_at };
      }),
  );
}

export const controlPrefix = '/_control';

const secondsSchema = z.object({ seconds: z.number().min(0) });
const part = z.string().optional();
const ruleSchema = z.object({
  match: z.object({ dialect: part, prompt: part, model: part, path: part, method: part }).default({}),
  fault: z.string(),
  times: z.int().min(1).optional(),
});

const routes: Readonly<
  Record<string, (control: Control, body: unknown, prompt: string | null) => object | void>
> = {
  'GET /stats': (control, _, prompt) => {
    return { ...control.stats(), ...(prompt === null ? {} : { prompt: control.submissions(prompt) }) };
  },
  'GET /tasks': (control, _, prompt) => {
    return { tasks: control.tasks(prompt ?? ''), ...control.submissions(prompt ?? '') };
  },
  'GET /faults': (control) => ({ faults: control.faults() }),
  'POST /faults': (control, body) => {
    control.addFault(ruleSchema.parse(body));
  },
  'DELETE /faults': (control) => {
    control.clearFaults();
  },
  'POST /render-seconds': (control, body) => {
    control.setRenderSeconds(secondsSchema.parse(body).seconds);
  },
  'POST /advance': (control, body) => {
    control.advance(secondsSchema.parse(body).seconds);
  },
  'POST /reset': (control) => {
    control.reset();
  },
};

/** These routes require no authentication, so expose them only on a private address. */
export function handleControl(control: Control, { method, path, body, query }: WireRequest): Reply {
  const route = routes[`${method} ${path}`];
  if (route === undefined) return json(404, { error: { message: `No such control: ${method} ${path}` } });
  try {
    return json(200, route(control, parseJson(body), query.get('prompt')) ?? {});
  } catch (error) {
    if (error instanceof z.ZodError || error instanceof UnknownFault)
      return json(400, { error: { message: error.message } });
    throw error;
  }
}
