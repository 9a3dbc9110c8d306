import { expect } from 'vitest';
import { readMedia } from '../../../src/media/read-media.ts';
import type { MediaFacts } from '../../../src/models/media-facts.ts';
import { CallbackSender } from '../../../workshop/simulator/callbacks.ts';
import { Clock } from '../../../workshop/simulator/clock.ts';
import { FaultBook } from '../../../workshop/simulator/fault-book.ts';
import { MediaShelf } from '../../../workshop/simulator/media/media-shelf.ts';
import { startSimulator } from '../../../workshop/simulator/simulator.ts';
import type { Simulator, SimulatorOptions } from '../../../workshop/simulator/simulator.ts';
import { Statistics } from '../../../workshop/simulator/statistics.ts';
import { World, type WorldParts } from '../../../workshop/simulator/world.ts';

export const testKey = 'test-key';
export const seedance2 = 'doubao-seedance-2-0-260128';

export type Json = ReturnType<typeof JSON.parse>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Json;
}

export interface Harness extends Simulator {
  readonly call: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answer>;
}

export async function startHarness(options: Partial<SimulatorOptions> = {}): Promise<Harness> {
  const stopped = Date.now();
  const simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    apiKeys: [testKey],
    clock: () => stopped,
    ...options,
  });
  return {
    ...simulator,
    call: (method, path, body, headers) => call(simulator.url, { method, path, body, headers }),
  };
}

async function call(
  url: string,
  request: { method: string; path: string; body: unknown; headers: Record<string, string> | undefined },
): Promise<Answer> {
  const response = await fetch(url + request.path, {
    method: request.method,
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json', ...request.headers },
    redirect: 'manual',
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parse(text) };
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

export function testWorld(parts: Partial<WorldParts> = {}): World {
  const statistics = new Statistics();
  return new World({
    clock: new Clock(Date.now),
    faults: new FaultBook(),
    statistics,
    jobsAtOnceMax: undefined,
    media: new MediaShelf(),
    callbacks: new CallbackSender(statistics, () => undefined),
    apiKeys: [testKey],
    tasksMax: 100,
    stateFile: undefined,
    renderSeconds: 8,
    origin: 'http://media.example',
    ...parts,
  });
}

export function factsOfFile(file: Buffer = Buffer.alloc(0)): Promise<MediaFacts | undefined> {
  const read = (start: number, end: number) => Promise.resolve(file.subarray(start, end));
  return readMedia({ bytes: file.length, read });
}

export const tasksPath = '/ark/api/v3/contents/generations/tasks';

export interface ArkCaller {
  create(body?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>;
  created(body?: Record<string, unknown>): Promise<string>;
  get(id: string): Promise<Answer>;
  list(query: string): Promise<Answer>;
  remove(id: string): Promise<Answer>;
}

export function arkCaller(harness: Harness): ArkCaller {
  const create = (
    body: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ): Promise<Answer> =>
    harness.call('POST', tasksPath, { model: seedance2, content: text('a cat'), ...body }, headers);
  return {
    create,
    async created(body = {}) {
      const answer = await create(body);
      if (answer.status !== 200) throw new Error(`Not accepted: ${answer.status} ${answer.text}`);
      return String(answer.body.id);
    },
    get: (id) => harness.call('GET', `${tasksPath}/${id}`),
    list: (query) => harness.call('GET', `${tasksPath}?${query}`),
    remove: (id) => harness.call('DELETE', `${tasksPath}/${id}`),
  };
}

export async function expectCallbacks(
  { control }: Pick<Harness, 'control'>,
  counts: ReturnType<Harness['control']['stats']>['callbacks'],
): Promise<void> {
  await expect.poll(() => control.stats().callbacks).toEqual(counts);
}

export function text(prompt: string): Record<string, unknown>[] {
  return [{ type: 'text', text: prompt }];
}

export function image(role?: string, url = 'https://images.example/a.png'): Record<string, unknown> {
  return { type: 'image_url', image_url: { url }, ...(role === undefined ? {} : { role }) };
}
