import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { messageOf } from '../../src/base/caught.ts';
import type { Offer } from './configuration.ts';
import { ask, askUntilAnswered } from './http.ts';
import { createRandom } from './random.ts';
import type { Random } from './random.ts';
import type { Stand } from './stand.ts';

/** One create as its caller knows it, over all its repeats with the same key. */
export interface Create {
  /** Part of its prompt, and of no other's. */
  readonly label: string;
  /** Path of its callbacks at the receiver; absent: it wants none. */
  readonly hook?: string;
  /** Each answer: its status, or 0 where there was none. */
  readonly answers: number[];
  /** Every id that a 200 named. */
  readonly ids: Set<string>;
  readonly unexpected: string[];
}

export interface LoadOptions {
  readonly offers: readonly Offer[];
  readonly tasks: number;
  readonly seed: number;
  /** The creates are spread over this time. */
  readonly spanMs: number;
}

const clients = 8;
const answersMax = 80;
/** Callers that do not repeat. */
const shareOfImpatient = 0.05;
const shareWithCallback = 0.5;
/** What a caller repeats: no answer, a conflict with its own try, too many tasks, and 503. Any other failure of ours is a violation. */
const repeatable = new Set([0, 409, 429, 503]);
const created = z.object({ id: z.string() });

/** Creates tasks as callers do; each repeats with its Idempotency-Key until it has an answer. */
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
      const { body } = random.pick(options.offers);
      await repeat(stand, create, { body, prompt, answersMax: isImpatient ? 1 : answersMax, random });
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return creates;
}

interface Caller {
  readonly body: Offer['body'];
  readonly prompt: string;
  readonly answersMax: number;
  readonly random: Random;
}

async function repeat(stand: Stand, create: Create, caller: Caller): Promise<void> {
  const callback =
    create.hook === undefined ? {} : { metadata: { callback_url: `${stand.receiverUrl}${create.hook}` } };
  const body = { ...caller.body, prompt: caller.prompt, ...callback };
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

const finished = z.looseObject({ status: z.string(), charge: z.string().optional() });
const undisturbedWithinMs = 180_000;

/** Micro-units by model: as the offer says, or what a task costs while nothing is disturbed. Throws if one fails. */
export async function chargesOf(
  stand: Stand,
  offers: readonly Offer[],
): Promise<ReadonlyMap<string, bigint>> {
  const charges = await Promise.all(
    offers.map(async ({ body, charge }) => charge ?? (await chargeOf(stand, body))),
  );
  return new Map(offers.map(({ body }, index) => [body.model, charges[index] ?? 0n]));
}

async function chargeOf(stand: Stand, body: Offer['body']): Promise<bigint> {
  const url = `${stand.url}/v1/videos/generations`;
  const token = stand.key;
  const prompt = `calm-${body.model}. [sim:render=1]`;
  const { id } = await askUntilAnswered(created, url, {
    method: 'POST',
    token,
    headers: { 'idempotency-key': prompt },
    body: { ...body, prompt },
  });
  const endsAt = Date.now() + undisturbedWithinMs;
  for (;;) {
    const task = await askUntilAnswered(finished, `${url}/${id}?wait=5`, { token });
    if (task.status === 'succeeded') break;
    if (task.status === 'failed' || Date.now() > endsAt)
      throw new Error(`undisturbed, ${body.model} is ${JSON.stringify(task)}`);
  }
  const entries = await stand.core.ledger.entriesOfTask(id);
  return entries
    .filter(({ kind }) => kind === 'settle' || kind === 'charge_extra')
    .reduce((sum, { amount }) => sum + amount, 0n);
}
