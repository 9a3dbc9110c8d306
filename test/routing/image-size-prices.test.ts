import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import type { ChannelConfig, GatewayConfig, ModelConfig } from '../../src/config/gateway-file.ts';
import { GatewayError } from '../../src/errors/errors.ts';
import { parseSize } from '../../src/base/image-sizes.ts';
import { settle } from '../../src/money/settle.ts';
import type { ImageRequest } from '../../src/models/request.ts';
import { parseImage } from '../../src/http/images/image-request.ts';
import { providers } from '../../src/providers/index.ts';
import { createCatalogue, type RoutePlan } from '../../src/routing/catalogue.ts';
import { readRepositoryFile, variablesOf } from '../deploy/compose-file.ts';
import { imageSubmissionOf } from '../providers/image-matrix.ts';
import { testBuyer } from '../support/buyer.ts';

const caller = testBuyer;

function parse(text: string): GatewayConfig {
  const environment = Object.fromEntries(variablesOf(text).map(({ name }) => [name, `dummy of ${name}`]));
  return parseGatewayConfig(text, 'test', { environment, providerNames: Object.keys(providers) });
}

async function planOf(
  config: GatewayConfig,
  model: ModelConfig,
  size: string,
): Promise<RoutePlan | undefined> {
  const rules = {
    model,
    caller,
    operation: 'generate',
    filesMax: 16,
    pixelsMax: 1,
    checkMediaUrl: () => undefined,
    checkCallbackUrl: () => undefined,
  } as const;
  const catalogue = createCatalogue({ current: () => config, providers, random: () => 0.5 });
  try {
    const { request } = await parseImage({ model: model.id, prompt: 'p', size }, rules);
    return catalogue.plan(request, caller);
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

function bodyOf(request: ImageRequest, { provider: name, models }: ChannelConfig): Promise<string> {
  const provider = providers[name];
  const served = models[request.model];
  if (provider === undefined || served === undefined) throw new TypeError('It is not served.');
  const { upstream: model, mapping } = served;
  return imageSubmissionOf({ provider, model, ...(mapping === undefined ? {} : { mapping }) }, request);
}

const example = parse(readRepositoryFile('gateway.example.yaml'));
const isPricedBySize = ({ kind, price }: ModelConfig) =>
  kind === 'image' && price.lines.some(({ when }) => when?.size !== undefined);
const priced = example.models.filter(isPricedBySize);

const sides = [512, 720, 768, 1000, 1024, 1280, 1344, 1536, 2032, 2040, 2048, 2064, 3072, 4096];
const grid = sides.flatMap((width) => [
  `${width}x${width}`,
  `${width}X${width}`,
  `${width}x${Math.round((width * 9) / 256) * 16}`,
]);

interface Priced {
  readonly size: string;
  readonly hold: bigint;
  readonly body: string;
}

async function pricesOf(model: ModelConfig): Promise<Priced[]> {
  const named = model.price.lines.flatMap(({ when }) => when?.size ?? []);
  const channel = example.channels.find(({ models }) => Object.hasOwn(models, model.id));
  const sizes = [...new Set([...model.sizes, ...named, ...grid])];
  const all = await Promise.all(
    sizes.map(async (size) => {
      const plan = await planOf(example, model, size);
      if (plan?.request.kind !== 'image' || channel === undefined) return [];
      return [{ size, hold: plan.hold, body: await bodyOf(plan.request, channel) }];
    }),
  );
  return all.flat();
}

describe.each(priced.map((model) => [model.id, model] as const))('the sizes of %s', (_, model) => {
  it('cost the same if the upstream gets the same request', async () => {
    const all = await pricesOf(model);
    const byBody = new Map(all.map((one) => [one.body, one]));
    expect(byBody.size).toBeGreaterThan(2);
    expect(all.filter(({ body, hold }) => byBody.get(body)?.hold !== hold)).toEqual([]);
  });

  it('are never cheaper than a priced size with no more pixels', async () => {
    const all = await pricesOf(model);
    const named = new Set(model.price.lines.flatMap(({ when }) => when?.size ?? []));
    const pixels = (size: string) => {
      const { width, height } = parseSize(size) ?? { width: 0, height: 0 };
      return width * height;
    };
    const cheaper = all.flatMap(({ size, hold }) =>
      all
        .filter((one) => named.has(one.size) && pixels(one.size) > 0 && pixels(size) >= pixels(one.size))
        .filter((one) => hold < one.hold)
        .map((one) => [size, one.size]),
    );
    expect(cheaper).toEqual([]);
  });
});

const google = { id: 'g', provider: 'google', model: 'gemini-3-pro-image' };
const bare = { id: 'b', provider: 'gateway', model: 'some-model' };

function sold(rules: readonly object[], sizes: readonly string[], channels = [google]): GatewayConfig {
  return parse(
    stringify({
      currency: 'USD',
      channels: channels.map(({ id, provider, model }) => ({
        id,
        provider,
        base_url: 'https://one.example/v1',
        credentials: [{ id: 'a', api_key: 'k' }],
        models: { m: { upstream: model } },
      })),
      models: [
        {
          id: 'm',
          kind: 'image',
          sizes,
          price: { lines: rules.map((rule) => ({ measure: 'image', ...rule })) },
        },
      ],
    }),
  );
}

async function holdOf(config: GatewayConfig, size: string): Promise<bigint | undefined> {
  const [model] = config.models;
  return model === undefined ? undefined : (await planOf(config, model, size))?.hold;
}

describe('a size in pixels', () => {
  const words = [
    { when: { size: ['4K'] }, price: '4' },
    { when: { size: ['2K'] }, price: '2' },
    { price: '1' },
  ];

  it('costs as much as its class, or the class below if that has no rule', async () => {
    const config = sold(words, ['1K', '2K', '4K']);
    expect(await holdOf(config, '4096x4096')).toBe(4_000_000n);
    expect(await holdOf(config, '2050X2050')).toBe(2_000_000n);
    expect(await holdOf(config, '1024x1024')).toBe(1_000_000n);
    expect(await holdOf(sold(words.slice(1), ['1K', '2K']), '4096x4096')).toBe(2_000_000n);
  });

  it('has the price of its own rule', async () => {
    const config = sold([{ when: { size: ['4096x4096'] }, price: '3' }, ...words], ['2K', '4K', '4096x4096']);
    expect(await holdOf(config, '4096x4096')).toBe(3_000_000n);
  });

  it('is refused if no rule matches it', async () => {
    const config = sold([{ when: { size: ['1024x1024'] }, price: '1' }], ['1024x1024'], [bare]);
    expect(await holdOf(config, '4096x4096')).toBeUndefined();
    expect(await holdOf(config, '1024x1024')).toBe(1_000_000n);
  });

  it('is charged as it was held, by the classes of each channel', async () => {
    const config = sold(words, ['2K', '4K'], [google, bare]);
    const [model] = config.models;
    const plan = model === undefined ? undefined : await planOf(config, model, '2050x2050');
    if (plan === undefined) throw new TypeError('It was refused.');
    const { basis, hold } = plan;
    const charged = (channel: string) => settle({ basis, channel, facts: { images: 1 }, held: hold });
    expect(charged('g')).toMatchObject({ amount: 2_000_000n, facts: { size: '2K' } });
    expect(charged('b')).toMatchObject({ amount: 4_000_000n, facts: { size: '4K' } });
    expect(hold).toBe(4_000_000n);
    expect(plan.reckoning).toMatchObject({ facts: { size: '4K' }, sources: {} });
  });
});
