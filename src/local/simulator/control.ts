import { z } from 'zod';
import { UnknownFault } from './fault.ts';
import type { FaultRule } from './fault-book.ts';
import type { Counts, PromptCounts } from './statistics.ts';
import { momentOf } from './task.ts';
import type { Phase } from './task.ts';
import { json, parseJson } from './wire.ts';
import type { Reply, WireRequest } from './wire.ts';
import type { World } from './world.ts';

/** One task as the control interface shows it. */
export interface TaskSummary {
  readonly id: string;
  readonly dialect: string;
  readonly model: string;
  readonly prompt: string;
  readonly phase: Phase;
  /** Unix seconds. */
  readonly created_at: number;
}

/** What a test or an operator does to the simulator; the same calls are HTTP routes under `/_control`. */
export interface Control {
  addFault(rule: FaultRule): void;
  faults(): readonly FaultRule[];
  clearFaults(): void;
  stats(): Counts & { readonly tasks: number };
  /** Create requests whose prompt contains `part`: all that arrived, and those that were accepted. */
  submissions(part: string): PromptCounts;
  /** Tasks still on record whose prompt contains `part`, oldest first. */
  tasks(part?: string): readonly TaskSummary[];
  setRenderSeconds(seconds: number): void;
  /** Puts the simulator's clock forward. */
  advance(seconds: number): void;
  /** Forgets tasks, faults and counts. */
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
  const found: TaskSummary[] = [];
  const now = world.now();
  for (const store of world.stores) {
    const { dialect } = store;
    for (const task of store.oldestFirst()) {
      if (!task.prompt.includes(part)) continue;
      const { id, model, prompt } = task;
      const created_at = Math.floor(task.createdAt / 1000);
      found.push({ id, dialect, model, prompt, phase: momentOf(task, now).phase, created_at });
    }
  }
  return found;
}

export const controlPrefix = '/_control';

const secondsSchema = z.object({ seconds: z.number().min(0) });
const ruleSchema = z.object({
  match: z
    .object({
      dialect: z.string().optional(),
      prompt: z.string().optional(),
      model: z.string().optional(),
      path: z.string().optional(),
      method: z.string().optional(),
    })
    .default({}),
  fault: z.string(),
  times: z.int().min(1).optional(),
});

/** The routes under `/_control`; no authentication, so that they belong on a private address only. */
export function handleControl(control: Control, request: WireRequest): Reply {
  try {
    return routeControl(control, request);
  } catch (error) {
    if (error instanceof z.ZodError || error instanceof UnknownFault)
      return json(400, { error: { message: error.message } });
    throw error;
  }
}

function routeControl(control: Control, request: WireRequest): Reply {
  const prompt = request.query.get('prompt');
  switch (`${request.method} ${request.path}`) {
    case 'GET /stats':
      return json(200, {
        ...control.stats(),
        ...(prompt === null ? {} : { prompt: control.submissions(prompt) }),
      });
    case 'GET /tasks':
      return json(200, { tasks: control.tasks(prompt ?? ''), ...control.submissions(prompt ?? '') });
    case 'GET /faults':
      return json(200, { faults: control.faults() });
    case 'POST /faults':
      control.addFault(ruleSchema.parse(parseJson(request.body)));
      break;
    case 'DELETE /faults':
      control.clearFaults();
      break;
    case 'POST /render-seconds':
      control.setRenderSeconds(secondsSchema.parse(parseJson(request.body)).seconds);
      break;
    case 'POST /advance':
      control.advance(secondsSchema.parse(parseJson(request.body)).seconds);
      break;
    case 'POST /reset':
      control.reset();
      break;
    default:
      return json(404, { error: { message: `No such control: ${request.method} ${request.path}` } });
  }
  return json(200, {});
}
