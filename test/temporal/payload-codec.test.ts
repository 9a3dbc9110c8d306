import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createPayloadCodec } from '../../src/temporal/payload-codec.ts';

const codec = createPayloadCodec(randomBytes(32));

async function encode(value: unknown): Promise<Payload> {
  const [payload] = await codec.encode([defaultPayloadConverter.toPayload(value)]);
  if (payload === undefined) throw new Error('one payload was given');
  return payload;
}

async function decode(payload: Payload, by = codec): Promise<unknown> {
  const [plain] = await by.decode([payload]);
  return defaultPayloadConverter.fromPayload(plain ?? {});
}

it('any encrypted value can be decrypted', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      const text: unknown = JSON.parse(JSON.stringify(value));
      expect(await decode(await encode(text))).toEqual(text);
    }),
    { numRuns: 50 },
  );
});

it('Temporal sees neither the text nor the kind of value, and never the same bytes twice', async () => {
  const [one, two] = [await encode('a secret prompt'), await encode('a secret prompt')];
  expect(Buffer.from(one.data ?? []).toString('latin1')).not.toContain('secret');
  expect(Object.keys(one.metadata ?? {})).toEqual(['encoding']);
  expect(Buffer.from(one.metadata?.['encoding'] ?? []).toString()).toBe('binary/deflate-aes256gcm');
  expect(one.data).not.toEqual(two.data);
});

it('values from before there was a key are passed through', async () => {
  const plain = defaultPayloadConverter.toPayload({ task: 'task_1' });
  expect(await codec.decode([plain])).toEqual([plain]);
});

it('values for Temporal’s own tools stay readable, but not values that only begin like them', async () => {
  const readable = [
    { did: { task: 'The task fails.', money: 'Nothing is charged.' } },
    { would: { task: 'The task fails.', money: 'Nothing is charged.' }, plan: '0f' },
    'Waits: needs attention (poll_failed): polling has stopped.',
    { definition: { type: 'generationTask' }, currentDetails: 'Needs attention' },
  ];
  for (const value of readable) {
    const plain = defaultPayloadConverter.toPayload(value);
    expect(await encode(value)).toEqual(plain);
    expect(await decode(await encode(value))).toEqual(value);
  }
  for (const value of [
    { reason: 'why', dry_run: true },
    { task: 'x' },
    '{"did":',
    'It Waits: no',
    { definitions: {} },
    null,
  ])
    expect(Object.keys((await encode(value)).metadata ?? {})).toEqual(['encoding']);
  expect(Buffer.from((await encode({ reason: 'why' })).data ?? []).toString('latin1')).not.toContain('why');
});

it('a payload without data is handled like any other, in either form of the SDK', async () => {
  for (const data of [[], new Uint8Array(), undefined]) {
    const empty = { metadata: { encoding: Buffer.from('binary/null') }, data };
    const [payload = {}] = await codec.encode([empty as never]);
    expect(Buffer.from(payload.metadata?.['encoding'] ?? []).toString()).toBe('binary/deflate-aes256gcm');
    expect(await decode(payload)).toBeUndefined();
  }
});

it('another key, and damage, are errors', async () => {
  const payload = await encode({ task: 'task_1' });
  await expect(async () => decode(payload, createPayloadCodec(randomBytes(32)))).rejects.toThrow();
  const damaged = Buffer.from(payload.data ?? []);
  damaged.writeUInt8(damaged.readUInt8(damaged.length - 1) ^ 1, damaged.length - 1);
  await expect(async () => decode({ ...payload, data: damaged })).rejects.toThrow();
});

it('a payload that would decompress beyond Temporal’s limit is an error', async () => {
  const bomb = await encode('x'.repeat(3 * 1024 * 1024));
  expect(bomb.data?.length).toBeLessThan(100_000);
  await expect(async () => decode(bomb)).rejects.toThrow();
});
