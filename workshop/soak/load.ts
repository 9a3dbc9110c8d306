import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { messageOf } from '../../src/base/caught.ts';
import { ask } from '../stand/http.ts';
import { offer } from './configuration.ts';
import { createRandom, type Random } from '../stand/random.ts';
import type { Stand } from './stand.ts';

export interface Create {
  readonly label: string;
  readonly hook?: string;
  readonly answers: number[];
  readonly ids: Set<string>;
  readonly unexpected: string[];
}

export interface LoadOptions {
  readonly tasks: number;
  readonly seed: number;
  readonly spanMs: number;
}

const clients = 8;
const answersMax = 80;
const shareOfImpatient = 0.05;
const shareWithCallback = 0.5;
/**
 * A caller retries if there is no response (0), and after these statuses: a conflict with its own earlier attempt
 * (409), too many tasks (429), and 503. Any other failure of the gateway is a violation.
 */
const repeatable = new Set([0, 409, 429, 503]);
const created = z.object({ id: z.string() });

export async function createLoad(stand: Stand, options: LoadOptions): Promise<readonly Create[]> {
  const startedAt = Date.now();
  const creates: Create[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    for (let n = next++; n < options.tasks; n = next++) {
      const label = `soak-${options.seed}-${String(n).padStart(6, '0')}.`;
      const random = createRandom(options.seed, label);
      const create: Create = {
        label,
        ...(random.next() < shareWithCallback ? { hook: `/hook/${label}` } : {}),
        answers: [],
        ids: new Set(),
        unexpected: [],
      };
      creates.push(create);
      const isImpatient = random.next() < shareOfImpatient;
      const prompt = `${label} [sim:render=${random.between(0.5, 8).toFixed(1)}]`;
      const due = startedAt + (options.spanMs * n) / options.tasks;
      await delay(Math.max(0, due - Date.now()));
      await repeat(stand, create, { prompt, answersMax: isImpatient ? 1 : answersMax, random });
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return creates;
}

interface Caller {
  readonly prompt: string;
  readonly answersMax: number;
  readonly random: Random;
}

async function repeat(stand: Stand, create: Create, caller: Caller): Promise<void> {
  const callback =
    create.hook === undefined ? {} : { metadata: { callback_url: `${stand.receiverUrl}${create.hook}` } };
  const body = { ...offer, prompt: caller.prompt, ...callback };
  while (create.answers.length < caller.answersMax) {
    const status = await once(stand, create, body);
    create.answers.push(status);
    if (!repeatable.has(status)) return;
    await delay(caller.random.between(200, 1500));
  }
}

async function once(stand: Stand, create: Create, body: unknown): Promise<number> {
  try {
    const answer = await ask(`${stand.url}/v1/videos/generations`, {
      method: 'POST',
      token: stand.key,
      headers: { 'idempotency-key': create.label },
      body,
    });
    if (answer.status === 200) create.ids.add(created.parse(answer.body).id);
    else if (!repeatable.has(answer.status)) create.unexpected.push(JSON.stringify(answer));
    return answer.status;
  } catch (error) {
    if (error instanceof z.ZodError) create.unexpected.push(messageOf(error));
    return 0;
  }
}
