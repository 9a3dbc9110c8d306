import { afterAll, describe, expect, it } from 'vitest';
import { sdkBodies, sdkTasks, type SdkBody } from '../../../providers/runway/runway-sdk.ts';
import { findContradictions, literalsOf, membersOf, type SdkTypes } from '../../../support/sdk-types.ts';
import { startHarness } from '../support.ts';

/** The dialect must accept every body that the vendor's SDK declares. */

const harness = await startHarness({ renderSeconds: 8 });
afterAll(() => harness.close());

const version = { 'x-runway-version': '2024-11-06' };
const post = (path: string, body: object) => harness.call('POST', `/runway/v1/${path}`, body, version);

/** The SDK declares these fields only as `string` or `number`, so they need sample values. */
const samples: Readonly<Record<string, unknown>> = {
  promptText: 'a cat',
  tag: 'cat',
  ratio: '1280:720',
  duration: 5,
  seed: 7,
  outputCount: 1,
  seconds: 1,
  at: 1,
};

function valuesOf(field: string, type: string, types: SdkTypes): readonly unknown[] {
  const words = literalsOf(type);
  const numbers = membersOf(type).filter((member) => /^\d+$/.test(member));
  if (words.length + numbers.length > 0) return [...words, ...numbers.map(Number)];
  const [member = ''] = membersOf(type);
  const item = /^Array<([\w.]+).*>$/.exec(member)?.[1];
  if (item !== undefined) return [[objectOf(item, types)]];
  if (member === 'boolean') return [true];
  return types.has(member) ? [objectOf(member, types)] : [samples[field] ?? 'https://i.example/a'];
}

function objectOf(name: string, types: SdkTypes): object {
  const fields = [...(types.get(name) ?? [])].filter(([, { optional }]) => !optional);
  return Object.fromEntries(fields.map(([field, { type }]) => [field, valuesOf(field, type, types)[0]]));
}

function bodyOf({ name, types }: SdkBody): object {
  return { promptText: 'a cat', ...objectOf(name, types) };
}

describe.each(sdkBodies.map((body) => [`${body.model} ${body.path}`, body] as const))('%s', (_, body) => {
  const { path, fields, types } = body;

  it('takes every field and every word that the SDK declares', async () => {
    const tried = [...fields].flatMap(([field, { type }]) =>
      valuesOf(field, type, types).map((value) => ({ ...bodyOf(body), [field]: value })),
    );
    for (const one of tried) {
      const { status, text } = await post(path, one);
      expect({ status, text, one }).toMatchObject({ status: 200 });
    }
  });
});

it('refuses a field that the SDK declares nowhere', async () => {
  const [body] = sdkBodies;
  if (body === undefined) throw new Error('the SDK has no bodies');
  const answer = await post(body.path, { ...bodyOf(body), fps: 24 });
  expect(answer.status).toBe(400);
});

it.each([
  ['Pending', '', 0],
  ['Throttled', '', 0],
  ['Running', '', 4],
  ['Succeeded', '', 9],
  ['Failed', '[sim:failed]', 9],
  ['Cancelled', '[sim:docs-shape]', 0],
] as const)('a task is reported as the SDK declares it: %s', async (name, fault, seconds) => {
  harness.control.reset();
  const create = async (promptText: string) => {
    const body = { model: 'gen4.5', promptText, ratio: '1280:720', duration: 5 };
    return String((await post('text_to_video', body)).body.id);
  };
  if (name === 'Throttled') for (let index = 0; index < 20; index += 1) await create('x [sim:queue=0]');
  const id = await create(`a cat ${fault}`);
  harness.control.advance(seconds);
  if (name === 'Cancelled') await harness.call('DELETE', `/runway/v1/tasks/${id}`, undefined, version);
  const { body } = await harness.call('GET', `/runway/v1/tasks/${id}`, undefined, version);
  expect([body.status, findContradictions(body, name, sdkTasks)]).toEqual([name.toUpperCase(), []]);
});
