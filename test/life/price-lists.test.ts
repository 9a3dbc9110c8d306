import { afterAll, beforeAll, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { formatMicros } from '../../src/money/money.ts';
import { readRepositoryFile } from '../deploy/compose-file.ts';
import { billOf, termsOf } from '../money/price-lists.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';

/** Jobs of the simulator at the prices of gateway.example.yaml: what the ledger takes is what the vendors' lists come to. */

const model = z.looseObject({ id: z.string(), kind: z.string(), price: z.unknown() });
const file = z.looseObject({
  channels: z.array(z.looseObject({ id: z.string() })),
  models: z.array(model),
});
const local = file.parse(
  parse(readFileSync(new URL('../../src/local/gateway.local.yaml', import.meta.url), 'utf8')),
);
const example = file.parse(parse(readRepositoryFile('gateway.example.yaml')));

/** Local mode offers less of these than the example has prices for. */
const narrower = new Set(['kling-3.0-omni', 'fal-seedance-2.0']);

/** The channels of local mode, with the prices of the example. */
const priced = local.models.flatMap((one) => {
  const same = narrower.has(one.id) ? undefined : example.models.find(({ id }) => id === one.id);
  return same === undefined ? [] : [{ ...one, price: same.price, expected_seconds: 1 }];
});
const ids = new Set(priced.map(({ id }) => id));
const others = local.models.filter(({ id }) => !ids.has(id));
const yaml = stringify({ ...local, models: [...priced, ...others] }).replaceAll(
  '${SIMULATOR_API_KEY}',
  'simulated',
);

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ yaml });
});
afterAll(() => gateway.stop());

const receiptSchema = z.object({
  charge: z.string(),
  usage: z.looseObject({
    completion_tokens: z.number().optional(),
    input_text_tokens: z.number().optional(),
    input_image_tokens: z.number().optional(),
    cached_tokens: z.number().optional(),
    duration: z.number().optional(),
    input_seconds: z.number().optional(),
    images: z.number().optional(),
  }),
  ledger: z.array(z.object({ kind: z.string(), amount: z.string() })),
});

it('the ledger takes what the vendor bills for what it rendered', { timeout: 120_000 }, async () => {
  const account = await gateway.account({ credit: '1000' });
  const made = await Promise.all(
    priced.map(async ({ id, kind }) => {
      const body = { model: id, prompt: 'a paper boat', ...(kind === 'image' ? { async: true } : {}) };
      const plural = kind === 'image' ? 'images' : 'videos';
      const resolution = kind === 'video' ? { resolution: '720p' } : {};
      const sized = id === 'minimax-h3' ? { resolution: '768p' } : resolution;
      const created = await account.call('POST', `/v1/${plural}/generations`, {
        body: { ...body, ...sized },
      });
      if (created.status !== 200) throw new Error(`${id}: ${created.text}`);
      const path = `/v1/${plural}/generations/${created.body.id}`;
      for (let status = ''; status !== 'succeeded';) {
        const { body: task } = await account.call('GET', `${path}?wait=10`);
        if (task.status === 'failed' || task.error) throw new Error(`${id}: ${JSON.stringify(task)}`);
        ({ status } = task);
      }
      const answer = await account.call('GET', `${path}/receipt`);
      const { charge, usage, ledger } = receiptSchema.parse(answer.body);
      const terms = termsOf.get(id);
      if (terms === undefined) throw new Error(`${id} has no list`);
      const tokens = usage.completion_tokens ?? 0;
      const output = { second: usage.duration ?? 0, image: usage.images ?? 0 };
      const bill = billOf(terms, {
        facts: {
          usage: {
            inputTextTokens: usage.input_text_tokens ?? 0,
            inputImageTokens: usage.input_image_tokens ?? 0,
            cachedTokens: usage.cached_tokens ?? 0,
          },
        },
        words: Object.values(sized),
        counts: {
          output: terms.by === 'second' || terms.by === 'image' ? output[terms.by] : tokens / 1e6,
          input_second: usage.input_seconds ?? 0,
          reference_image: 0,
          input_image: 0,
          megapixel: 0,
        },
      });
      const taken = ledger.flatMap(({ kind: entry, amount }) => (entry === 'settle' ? [amount] : []));
      return { id, charge, bill: formatMicros(bill), taken };
    }),
  );
  expect(made.length).toBeGreaterThan(14);
  expect(made).toEqual(made.map(({ id, bill }) => ({ id, bill, charge: bill, taken: [`-${bill}`] })));
  expect(made.filter(({ bill }) => bill === '0.000000')).toEqual([]);
});
