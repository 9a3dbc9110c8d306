import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isRecord } from '../../src/base/is-record.ts';
import { checkMeaning } from '../../src/config/check-meaning.ts';
import { fileSchema } from '../../src/config/gateway-schema.ts';
import { GatewayError } from '../../src/errors/errors.ts';
import type { AskedRequest } from '../../src/models/request.ts';
import { chargeTask } from '../../src/money/charge.ts';
import type { SettleFacts } from '../../src/money/settle-facts.ts';
import { adapters, providers } from '../../src/providers/index.ts';
import { createCatalogue } from '../../src/routing/catalogue.ts';
import { asAsked, imageRequest, videoRequest } from '../providers/support.ts';
import { testBuyer } from '../support/buyer.ts';

/** Every number of gateway.yaml has a smallest and a largest value, and requests can be priced with both. */

type Schema = z.core.JSONSchema.BaseSchema;

interface NumberField {
  /** List elements and entries with free names are written as `*`. */
  readonly path: string;
  readonly schema: Schema;
}

function numbersIn(schema: unknown, path: readonly string[] = []): NumberField[] {
  if (!isRecord(schema)) return [];
  const parts: readonly (readonly [readonly string[], unknown])[] = [
    ...Object.entries(isRecord(schema['properties']) ? schema['properties'] : {}).map(
      ([name, part]) => [[...path, name], part] as const,
    ),
    ...[schema['items'], schema['additionalProperties']].map((part) => [[...path, '*'], part] as const),
    ...(Array.isArray(schema['anyOf']) ? schema['anyOf'] : []).map((part) => [path, part] as const),
  ];
  const isNumber = schema['type'] === 'number' || schema['type'] === 'integer';
  const own = isNumber ? [{ path: path.join('.'), schema }] : [];
  return [...own, ...parts.flatMap(([at, part]) => numbersIn(part, at))];
}

const fields = numbersIn(z.toJSONSchema(fileSchema, { io: 'input', unrepresentable: 'any' }));

/** These may also be decimal texts, which `parseMicros` limits. */
const amounts = /\.(?:price|minimum|multiplier|review_above|low_balance)$|\.cost_units\.\*$/;
/** A vendor's own numbers, which are only compared with those of a request. */
const compared =
  /\.facts\.(?:cases\.\*\.facts\.)?(?:parameters\.\*\.(?:min|max|values\.\*)|sizes\.(?:pixels\.longest|tolerance))$|\.when\.metadata\.\*$|\.mapping\./;

describe('every number', () => {
  it('has a smallest and a largest value', () => {
    const open = fields.filter(
      ({ schema: { minimum, exclusiveMinimum, maximum } }) =>
        (minimum ?? exclusiveMinimum) === undefined || maximum === undefined,
    );
    const paths = open.map(({ path }) => path);
    expect(paths.filter((path) => !amounts.test(`.${path}`) && !compared.test(`.${path}`))).toEqual([]);
    expect(fields.length).toBeGreaterThan(paths.length);
  });
});

const beyond = 0.5;
const line = (measure: string, more = {}) => ({ measure, price: '1', beyond, ...more });
const hold = { multiplier: '1', review_above: '3' };
const video = {
  id: 'v',
  kind: 'video',
  created: 5,
  input_types: ['text_to_video', 'reference'],
  resolutions: ['720p'],
  ratios: ['16:9'],
  durations: { min: 4, max: 15, step: 1, default: 5, auto: true },
  inputs: { images: { max: 4 }, videos: { max: 2 }, audios: { max: 1 } },
  n: { max: 1 },
  expected_seconds: 60,
  deadline_seconds: 1000,
  price: {
    minimum: '0.5',
    lines: [
      line('million_tokens'),
      line('second', { when: { duration: { min: 1, max: 9 } } }),
      line('second'),
      line('frame'),
      line('input_second'),
      line('million_input_text_tokens'),
      line('million_input_image_tokens'),
      line('million_input_video_tokens'),
      line('million_input_audio_tokens'),
      line('million_cached_tokens'),
      line('reference_image'),
      line('call'),
    ],
    hold,
  },
};
const image = {
  id: 'i',
  kind: 'image',
  sizes: ['1024x1024'],
  qualities: ['low'],
  n: { max: 3 },
  inputs: { images: { max: 4 } },
  price: {
    minimum: '0.5',
    lines: [
      line('image'),
      line('megapixel'),
      line('input_image'),
      line('million_tokens'),
      line('million_text_tokens'),
    ],
    hold,
  },
};
const videoFacts = {
  media: { frames: 2, references: 9, videos: 3, audios: 3, total: 12 },
  prompt: { characters: 2000 },
  addresses: { characters: 2048 },
  seconds: { min: 4, max: 20, step: 1, auto: true },
  seed: { min: 0, max: 100 },
  input_seconds: 15,
  frames_per_second: 30,
  tokens: { image: 1600, video_second: 7800, audio_second: 50, text: 4000 },
  unsaid: { resolutions: ['720p'], seconds: { min: 5, max: 5 } },
};
const imageFacts = {
  images: { max: 4 },
  references: { min: 0, max: 10 },
  sizes: {
    pixels: { step: 16, side_min: 256, side_max: 4096, min: 1, max: 16_777_216, longest: 16 },
    classes: { '1K': 1_048_576 },
    about: 1_048_576,
    tolerance: 0.02,
    ratios: ['1:1'],
  },
  per_call: 1,
};
const channel = { base_url: 'http://u.test', credentials: [{ id: 'a', api_key: 'k' }] };
const file = {
  currency: 'USD',
  channels: [
    {
      ...channel,
      id: 'a',
      provider: 'ark',
      priority: 1,
      weight: 1,
      limits: { submits_per_second: 1, polls_per_second: 1, concurrent_tasks: 1 },
      timeouts: { submit_ms: 1000, poll_ms: 1000, image_ms: 1000 },
      cost_units: { credits: '0.01' },
      cost: { minimum: '0.1', lines: [line('call')] },
      models: { v: { upstream: 'dreamina-seedance-2-0-260128', facts: videoFacts } },
    },
    {
      ...channel,
      id: 'o',
      provider: 'openai',
      models: {
        i: {
          upstream: 'gpt-image-2.5-flare',
          facts: imageFacts,
          cost: { minimum: '0.1', lines: [line('image')] },
          price: { minimum: '0.1', lines: image.price.lines },
        },
      },
    },
  ],
  models: [video, image],
  retention: { requests_days: 7, exchanges_days: 7, tasks_days: 7 },
  ledger: { verify_hour: 3, verify_documents_per_second: 1000 },
  receipts: { key: 1 },
};

type Path = readonly (string | number)[];

function leavesOf(value: unknown, path: Path = []): Path[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => leavesOf(item, [...path, index]));
  if (isRecord(value))
    return Object.entries(value).flatMap(([name, item]) => leavesOf(item, [...path, name]));
  return [path];
}

function withValue(value: unknown, [name, ...rest]: Path, next: unknown): unknown {
  if (name === undefined) return next;
  if (Array.isArray(value))
    return value.map((item, at) => (at === name ? withValue(item, rest, next) : item));
  return isRecord(value) ? { ...value, [name]: withValue(value[name], rest, next) } : value;
}

function extremesOf({ minimum, exclusiveMinimum, maximum }: Schema): number[] {
  const smallest = minimum ?? (exclusiveMinimum === undefined ? -1e15 : Number(exclusiveMinimum) + 1);
  return [Number(smallest), maximum ?? 1e15];
}

function isAt(path: Path, field: string): boolean {
  const names = field.split('.');
  return names.length === path.length && names.every((name, at) => name === '*' || name === String(path[at]));
}

const used = leavesOf(file).flatMap((path) => {
  const field = fields.find((one) => isAt(path, one.path));
  if (field === undefined) return [];
  const texts = amounts.test(`.${field.path}`) ? ['0', '0.000001', '999999999999.999999'] : [];
  const values = texts.length > 0 ? texts : extremesOf(field.schema);
  return values.map((value) => [`${path.join('.')}: ${value}`, path, value] as const);
});

const picture = 'https://m.example/a.png';
const clip = 'https://m.example/a.mp4';
const requests: readonly AskedRequest[] = [
  ...[
    {},
    { resolution: '720p', duration: 5 },
    { duration: 'auto' as const },
    { references: [picture], videos: [clip], audios: ['https://m.example/a.mp3'], duration: 5 },
  ].map((fields) => asAsked(videoRequest({ model: 'v', prompt: 'p', ratio: '16:9', ...fields }))),
  ...[{ n: 1 }, { n: 3, size: '1024x1024', quality: 'low' }].map((fields) => ({
    ...imageRequest({ model: 'i', prompt: 'p', ...fields }),
    named: {},
  })),
];
const reports: readonly SettleFacts[] = [
  {},
  { durationSeconds: 5, resolution: '720p', ratio: '16:9', usage: { completionTokens: 100 } },
  { images: 3, size: '1024x1024' },
];

it.each(used)('a request can be priced with %s', (_name, path, value) => {
  const text = withValue(file, path, value);
  const { data: config, error } = fileSchema.safeParse(text);
  // Each value alone is accepted. Only a range can be empty, and a price line unreachable.
  expect((error?.issues ?? []).filter((issue) => issue.message !== 'min is above max')).toEqual([]);
  if (config === undefined || checkMeaning(text, adapters).length > 0) return;
  const current = () => ({ ...config, hash: 'v', vendors: {} });
  const catalogue = createCatalogue({ current, providers, random: () => 0.3 });
  for (const request of requests) {
    try {
      const { basis, hold: held, candidates } = catalogue.plan(request, testBuyer);
      expect(held).toBeGreaterThanOrEqual(0n);
      for (const facts of reports) {
        const charged = { basis, channel: candidates[0]?.channel ?? '', facts, held, tokensOf: () => 1000n };
        expect(chargeTask(request.kind, charged).settlement.amount).toBeGreaterThanOrEqual(0n);
      }
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(GatewayError);
    }
  }
});
