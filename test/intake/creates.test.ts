import { readFileSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CreateImagesCommand } from '../../src/images/create-images.ts';
import { createRoutes } from '../../src/http/routes/index.ts';
import type { RouteDeps } from '../../src/http/deps.ts';
import type { Route } from '../../src/http/route.ts';
import { pixel } from '../images/support.ts';
import { caller, type Answer, type TestAccount } from '../support/client.ts';
import { useHttpWorld, type Server } from '../support/http-world.ts';

/** Tries every intake rule on every operation that creates work. docs/contract.md contains this table. */

const world = useHttpWorld('intake_creates');
const prompt = 'a paper boat on a rainy street';
const address = 'https://cdn.example/boat.png';
const dataUrl = `data:image/png;base64,${pixel.toString('base64')}`;
let node: Server;
let account: TestAccount;
let asked: CreateImagesCommand | undefined;

beforeAll(async () => {
  const takesImages = 'kind: image, inputs: { images: { max: 4 } },';
  world.configure((yaml) => yaml.replace('kind: image,', takesImages));
  const create = async (command: CreateImagesCommand) => {
    asked = command;
    return { kind: 'answer' as const, answer: { status: 200, parts: ['{}'], replayed: false, headers: {} } };
  };
  node = await world.startNode({ images: { ...world.deps.images, create } });
  account = await world.newAccount({ credit: '1000' });
});
afterEach(() => {
  asked = undefined;
});

type Fields = Readonly<Record<string, unknown>>;

interface Create {
  readonly path: string;
  readonly body: (fields: Fields, model?: string) => Fields;
  readonly takesNoMedia?: true;
  readonly isForImages?: true;
  readonly hasTasks?: true;
}

const flat = (path: string): Create => ({
  path,
  body: (fields, model = 'clip') => ({ model, prompt, ...fields }),
});
const images = (path: string, more: Fields = {}): Create => ({
  path,
  isForImages: true,
  body: (fields) => ({ model: 'picture', prompt, ...more, ...fields }),
});
const imageTasks = (path: string, more?: Fields): Create => ({ ...images(path, more), hasTasks: true });
const chat = (path: string): Create => ({
  path,
  isForImages: true,
  body: (fields) => ({ model: 'picture', messages: [{ role: 'user', content: prompt }], ...fields }),
});
const fal = (path: string): Create => ({ path, body: (fields) => ({ prompt, ...fields }) });

const creates: Readonly<Record<string, Create>> = {
  createVideo: flat('/v1/videos/generations'),
  createImage: imageTasks('/v1/images/generations'),
  editImage: imageTasks('/v1/images/edits', { image: address }),
  createChatCompletion: chat('/v1/chat/completions'),
  createOpenrouterChat: chat('/api/v1/chat/completions'),
  createOpenrouterImage: images('/api/v1/images'),
  createArkImage: images('/api/v3/images/generations'),
  createOpenaiVideo: flat('/v1/videos'),
  remixOpenaiVideo: { path: 'remix', takesNoMedia: true, body: (fields) => ({ prompt, ...fields }) },
  createArkTask: {
    path: '/api/v3/contents/generations/tasks',
    body: (fields, model = 'clip') => ({ model, content: [{ type: 'text', text: prompt }], ...fields }),
  },
  createOpenrouterVideo: flat('/api/v1/videos'),
  createPrediction: {
    path: '/v1/predictions',
    body: (fields, version = 'clip') => ({ version, input: { prompt, ...fields } }),
  },
  createModelPrediction: {
    path: '/v1/models/any/clip/predictions',
    body: (fields) => ({ input: { prompt, ...fields } }),
  },
  submitFalRequest: fal('/fal/any/clip'),
  runFalRequest: fal('/fal/run/any/clip'),
  streamFalRequest: fal('/fal/run/any/clip/stream'),
};

/**
 * These operations wait until the task has finished. They share their handler with the other operations, so only their
 * errors are tested.
 */
const waiting = new Set(['runFalRequest', 'streamFalRequest']);

function routes(): readonly Route[] {
  const deps = {
    operatorAuth: {},
    images: { vendorFields: new Set() },
    storedFiles: { files: {} },
    now: Date.now,
  };
  return createRoutes(deps as unknown as RouteDeps);
}

it('the table has every operation of the router that may hold money', () => {
  const holding = routes().filter(({ errors = [] }) => errors.includes('insufficient_balance'));
  expect(holding.map(({ operationId }) => operationId).toSorted()).toEqual(Object.keys(creates).toSorted());
});

async function pathOf({ path }: Create): Promise<string> {
  if (path !== 'remix') return path;
  const { body } = await caller(node.url, account.key)('POST', '/v1/videos', {
    body: { model: 'clip', prompt },
  });
  await world.drive.succeed(body.id, {
    kind: 'succeeded',
    items: [{ url: 'https://cdn.example/v.mp4' }],
    facts: { durationSeconds: 5 },
  });
  return `/v1/videos/${body.id}/remix`;
}

async function send(create: Create, fields: Fields, key = account.key): Promise<Answer> {
  return caller(node.url, key)('POST', await pathOf(create), { body: create.body(fields) });
}

async function requestOf(answer: Answer): Promise<any> {
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([
    expect.toBeOneOf([200, 201, 202]),
    expect.anything(),
  ]);
  if (asked !== undefined) return asked.request;
  return (await world.stores.requests.find(answer.body.id ?? answer.body.request_id))?.request;
}

async function expectRefused(create: Create, fields: Fields, model = 'clip'): Promise<void> {
  const path = (await pathOf(create)).replace('clip', model);
  const { held } = await account.balance();
  const answer = await caller(node.url, account.key)('POST', path, { body: create.body(fields, model) });
  expect([400, 422]).toContain(answer.status);
  expect(asked).toBeUndefined();
  expect((await account.balance()).held).toBe(held);
}

async function expectRefusedBy(key: string, create: Create, fields: Fields): Promise<void> {
  const path = await pathOf(create);
  const { held } = await account.balance();
  const answer = await caller(node.url, key)('POST', path, { body: create.body(fields) });
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([
    expect.toBeOneOf([400, 422]),
    expect.stringContaining('API key'),
  ]);
  expect(asked).toBeUndefined();
  expect((await account.balance()).held).toBe(held);
}

async function keyWith(terms: Fields): Promise<string> {
  return (
    await world.admin('POST', '/keys', { account: account.id, scopes: ['create', 'read_account'], ...terms })
  ).body.key;
}

const mediaForms: readonly (readonly [name: string, value: unknown])[] = [
  ['image', address],
  ['image_url', address],
  ['images', [{ url: address }]],
  ['reference_images', [address]],
  ['images', [{ image_url: address }]],
  ['images', [{ image_url: { url: address } }]],
  ['images', [pixel.toString('base64')]],
  ['image', { url: dataUrl }],
];

function rendersAsAsked({ takesNoMedia, isForImages }: Create): boolean {
  return takesNoMedia !== true && isForImages !== true;
}

interface Rule {
  readonly name: string;
  readonly isFor?: (create: Create) => boolean;
  /** Set if the rule applies only to operations that respond with the result rather than a task. */
  readonly answers?: true;
  readonly run: (create: Create) => Promise<void>;
}

const rules: readonly Rule[] = [
  {
    name: 'an empty text is absent',
    answers: true,
    run: async (create) => {
      const request = await requestOf(await send(create, { size: '', user: '', callback_url: '' }));
      expect(request.prompt).toBe(prompt);
      asked = undefined;
      for (const metadata of ['', ' ', '""', '[]', 'null']) await expectRefused(create, { metadata });
    },
  },
  {
    name: 'a number sent as text is read as a number',
    answers: true,
    run: async (create) => {
      const request = await requestOf(await send(create, { metadata: { seed: '7' } }));
      expect(create.isForImages ? request.extra.seed : request.seed).toBe(7);
      if (create.isForImages)
        expect((await requestOf(await send(create, { seed: '7', n: '1' }))).extra.seed).toBe(7);
    },
  },
  {
    name: 'numbers must be plain digits and exact',
    run: async (create) => {
      const name = create.isForImages ? 'n' : 'metadata';
      for (const value of ['７', '1e3', 'NaN'])
        await expectRefused(create, { [name]: name === 'n' ? value : { seed: value } });
      for (const seed of ['abc', 1.5, true]) {
        await expectRefused(create, { metadata: { seed } });
        if (create.isForImages) await expectRefused(create, { seed });
      }
      await expectRefused(create, { metadata: { cfg_scale: 1e308 } });
    },
  },
  {
    name: 'media and addresses without effect are refused',
    run: async (create) => {
      const lost = [
        { markup: address },
        { upload_to: 's3://bucket/key' },
        { bucket: 'results' },
        { outputBucket: 'results' },
        { destination: 'results/today' },
        { input_image_2: { url: address } },
      ];
      for (const fields of lost)
        await expectRefused(create, create.isForImages ? { metadata: { image: fields } } : fields, 'other');
      await expectRefused(create, { callback_url: address, webhook_url: 'https://other.example' });
    },
  },
  {
    name: 'media have the same forms everywhere',
    answers: true,
    isFor: ({ takesNoMedia }) => takesNoMedia !== true,
    run: async (create) => {
      for (const [name, value] of mediaForms) {
        const request = await requestOf(await send(create, { [name]: value }));
        const found = JSON.stringify(request);
        const isData = JSON.stringify(value).includes(pixel.toString('base64').slice(0, 20));
        expect([name, found]).toEqual([
          name,
          expect.stringContaining(isData ? pixel.toString('base64') : address),
        ]);
      }
    },
  },
  {
    name: 'the end user has one spelling',
    answers: true,
    run: async (create) => {
      await expectRefused(create, { user: 'a'.repeat(257) });
      for (const name of ['user', 'safety_identifier', 'end_user_id']) {
        const request = await requestOf(await send(create, { [name]: ' Ａlice\u200b ' }));
        const user = request.safetyIdentifier ?? request.extra.user;
        expect([name, user]).toEqual([name, 'Alice']);
      }
      const both = await send(create, { user: 'a', safety_identifier: 'b' });
      const request = await requestOf(both);
      expect(request.safetyIdentifier ?? request.extra.user).toBe('a');
      if (rendersAsAsked(create))
        expect(both.body.warnings).toEqual([
          expect.stringMatching(/^(input\.)?safety_identifier: overruled by \1user$/),
        ]);
    },
  },
  {
    name: 'pixels are matched with the model’s shapes',
    answers: true,
    isFor: rendersAsAsked,
    run: async (create) => {
      for (const [size, resolution, ratio] of [
        ['960x960', '720p', '1:1'],
        ['1280X720', '720p', '16:9'],
        ['480x854', '480p', '9:16'],
      ])
        expect(await requestOf(await send(create, { size }))).toMatchObject({ resolution, ratio });
      await expectRefused(create, { size: '1000x1000' });
      await expectRefused(create, { size: '3840x2160' });
    },
  },
  {
    name: 'a warning lists overruled fields, and what overrules them',
    answers: true,
    isFor: rendersAsAsked,
    run: async (create) => {
      const lost = await send(create, { size: '960x960', aspect_ratio: '16:9' });
      expect(await requestOf(lost)).toMatchObject({ resolution: '720p', ratio: '16:9' });
      expect(await requestOf(lost)).not.toHaveProperty('size');
      expect(lost.body.warnings).toEqual([
        expect.stringMatching(/^(input\.)?size: overruled by \1aspect_ratio$/),
      ]);
      const both = await send(create, { ratio: '1:1', aspectRatio: '16:9', size: '960x960' });
      expect(await requestOf(both)).toMatchObject({ resolution: '720p', ratio: '1:1', size: '960x960' });
      expect(both.body.warnings).toEqual([
        expect.stringMatching(/^(input\.)?aspectRatio: overruled by \1ratio$/),
      ]);
    },
  },
  {
    name: 'with `strict`, an ignored field is an error',
    run: async (create) => {
      await expectRefused(create, {
        strict: true,
        ratio: '1:1',
        metadata: { size: '1280x720' },
        size: '720x1280',
      });
      await expectRefused(create, { strict: 'perhaps' });
    },
  },
  {
    name: '`async` creates a task, or is refused',
    isFor: ({ isForImages }) => isForImages === true,
    run: async (create) => {
      if (create.hasTasks !== true) return expectRefused(create, { async: true });
      await requestOf(await send(create, { async: true }));
      expect(asked?.asTask).toBe(true);
    },
  },
  {
    name: 'a key can make every request strict',
    run: async (create) => {
      const key = await keyWith({ strict: true });
      await expectRefusedBy(key, create, { metadata: { size: '1280x720' }, size: '720x1280' });
    },
  },
  {
    name: 'a key can require the end user',
    run: async (create) => {
      const key = await keyWith({ end_user_required: true });
      await expectRefusedBy(key, create, {});
      if (create.path.startsWith('/fal/run')) return;
      await requestOf(await send(create, { user: 'alice' }, key));
    },
  },
];

describe.each(Object.entries(creates))('%s', (operation, create) => {
  const kept = rules.filter(
    ({ isFor, answers }) => isFor?.(create) !== false && !(answers && waiting.has(operation)),
  );
  it.each(kept.map((rule) => [rule.name, rule] as const))('%s', async (_name, { run }) => run(create));
});

it('docs/contract.md shows the table', () => {
  const cell = (create: Create, operation: string) => (rule: Rule) =>
    rule.isFor?.(create) === false
      ? '–'
      : rule.answers && waiting.has(operation)
        ? 'as `submitFalRequest`'
        : 'yes';
  const lines = [
    `| Operation | ${rules.map(({ name }) => name).join(' | ')} |`,
    `|---|${rules.map(() => '---|').join('')}`,
    ...Object.entries(creates).map(
      ([operation, create]) => `| ${operation} | ${rules.map(cell(create, operation)).join(' | ')} |`,
    ),
  ];
  const page = readFileSync(new URL('../../docs/contract.md', import.meta.url), 'utf8');
  expect(page).toContain(lines.join('\n'));
});
