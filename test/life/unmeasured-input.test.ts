import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { clipOf } from '../../workshop/simulator/media/clips.ts';
import { choosePort } from '../../src/local/servers/ports.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway, testYaml, type TestGateway } from '../support/gateway.ts';
import { expectSoundLedger } from '../support/sound-ledger.ts';

const modelOf = (id: string) => `
  - id: ${id}
    kind: video
    input_types: [text_to_video, reference]
    resolutions: [720p]
    ratios: ["16:9"]
    durations: { min: 2, max: 15, default: 5 }
    inputs: { images: { max: 4 }, videos: { max: 3 } }
    expected_seconds: 1
    price: { lines: [{ measure: second, price: "0.10" }, { measure: input_second, price: "0.10" }] }`;

const yaml = testYaml.replace('currency: USD\n', 'currency: USD\nresults: { storage: directory }\n').replace(
  '\nmodels:',
  `
  - id: dashscope
    provider: dashscope
    base_url: \${SIMULATOR_URL}/dashscope/api/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    limits: { submits_per_second: 500, polls_per_second: 500 }
    timeouts: { submit_ms: 10000, poll_ms: 10000 }
    models:
      wan: { upstream: wan2.7-r2v }
      silent: { upstream: wan2.7-r2v, facts: { input_seconds_reported: false } }
  - id: slow
    provider: dashscope
    base_url: \${SIMULATOR_URL}/dashscope/api/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    limits: { submits_per_second: 0.5, polls_per_second: 500 }
    timeouts: { submit_ms: 10000, poll_ms: 10000 }
    models: { wan-slow: { upstream: wan2.7-r2v } }
  - id: narrow
    provider: dashscope
    base_url: \${SIMULATOR_URL}/dashscope/api/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    limits: { submits_per_second: 500, polls_per_second: 500, concurrent_tasks: 1 }
    timeouts: { submit_ms: 10000, poll_ms: 10000 }
    models: { wan-narrow: { upstream: wan2.7-r2v } }
models:${modelOf('wan')}${modelOf('silent')}${modelOf('wan-slow')}${modelOf('wan-narrow')}`,
);

const film = (seconds: number) => clipOf({ width: 640, height: 360, seconds });
let gateway: TestGateway;
let account: TestAccount;
let directory: string;
let clips = '';
const opened = new Map<string, number>();

const server = createServer((request, response) => answer(request, response));

function answer({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
  const times = (opened.get(url) ?? 0) + 1;
  if (headers.range?.startsWith('bytes=0-') === true) opened.set(url, times);
  const [, name = '', seconds = '0'] = /^\/(\w+)-(\d+)/.exec(url) ?? [];
  const isThere = name === 'there' || (name === 'late' && times > 1);
  response.writeHead(isThere ? 200 : 404).end(isThere ? film(Number(seconds)) : '');
}

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  clips = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  directory = await mkdtemp(join(tmpdir(), 'mediary-unmeasured-'));
  const PORT = String(await choosePort('any', 'the test gateway'));
  // There is no time for measuring, so creates do not wait for a video's length.
  gateway = await startGateway({ yaml, environment: { DATA_DIR: directory, PORT, MEDIA_PROBE_MS: '0' } });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.stop();
  server.close();
  await rm(directory, { recursive: true, force: true });
});

interface Paid {
  readonly hold: string;
  readonly charge: string;
  readonly input_seconds: number | undefined;
  readonly sources: readonly string[];
}

async function paid(model: string, videos: readonly string[]): Promise<Paid> {
  const prompt = 'a fox [sim:missing-usage]';
  const { body } = await account.create({ model, prompt, videos, input_type: 'reference' });
  expect(body.warnings).toContainEqual(expect.stringMatching(/^videos\[0\]: the length /));
  expect(await account.finished(body.id)).toMatchObject({ status: 'succeeded' });
  const receipt = await account.call('GET', `/v1/videos/generations/${body.id}/receipt`);
  const { hold, charge, usage, charge_reckoning: how } = receipt.body.payload;
  return {
    hold,
    charge,
    input_seconds: usage.input_seconds,
    sources: how.lines.map(({ source }: { readonly source: string }) => source),
  };
}

it('are measured once, before the submission, and charged by that length', async () => {
  const url = `${clips}/there-7`;
  expect(await paid('wan', [url])).toEqual({
    hold: '2.000000',
    charge: '1.200000',
    input_seconds: 7,
    sources: ['measured', 'measured'],
  });
  expect(opened.get('/there-7')).toBe(1);
});

it.each([
  ['its turn', 'wan-slow'],
  ['a slot', 'wan-narrow'],
])('are measured once, even if the submission has to return for %s', async (_, model) => {
  const names = [3, 4, 5].map((seconds) => `there-${seconds}?${model}`);
  const charges = await Promise.all(
    names.map(async (name) => (await paid(model, [`${clips}/${name}`])).charge),
  );
  expect(charges).toEqual(['0.800000', '0.900000', '1.000000']);
  expect(names.map((name) => opened.get(`/${name}`))).toEqual([1, 1, 1]);
});

it('are measured with the result if the submission could not read them', async () => {
  expect(await paid('wan', [`${clips}/late-7`, `${clips}/there-7?again`])).toEqual({
    hold: '2.000000',
    charge: '1.900000',
    input_seconds: 14,
    sources: ['measured', 'measured'],
  });
});

it('cost no more than was held if they are longer than the model accepts', async () => {
  expect(await paid('wan', [`${clips}/there-40`])).toMatchObject({ hold: '2.000000', charge: '2.000000' });
});

it('are measured several times if the upstream never reports their length', async () => {
  const sources = ['measured', 'measured'];
  expect(await paid('silent', [`${clips}/late-6`])).toMatchObject({ charge: '1.100000', sources });
});

it('are not submitted if they cannot be read and the upstream never reports their length', async () => {
  const before = await account.balance();
  const prompt = 'a hidden fox';
  const { body } = await account.create({
    model: 'silent',
    prompt,
    videos: [`${clips}/hidden-7`],
    input_type: 'reference',
  });
  const { status, error } = await account.finished(body.id);
  expect([status, error.message]).toEqual(['failed', expect.stringContaining('could not read')]);
  expect(gateway.simulator.submissions(prompt)).toMatchObject({ submits: 0 });
  await expect.poll(() => account.balance()).toEqual(before);
});

it('cost nothing if they cannot be read, and the receipt says that their length was assumed', async () => {
  expect(await paid('wan', [`${clips}/gone-7`])).toEqual({
    hold: '2.000000',
    charge: '0.500000',
    input_seconds: undefined,
    sources: ['measured', 'assumed'],
  });
});

const byTokens = (seconds: number): string =>
  (Math.round(Math.floor((921_600 * (24 * seconds + 1)) / 1024) * 4.3) / 1e6).toFixed(6);

it.each([
  ['there-7', byTokens(5 + 7)],
  ['gone-8', byTokens(5)],
])('count in a formula for tokens only as measured: %s', async (name, charge) => {
  expect(await paid('seedance', [`${clips}/${name}?tokens`])).toMatchObject({ hold: byTokens(20), charge });
});

it('are read from our own storage if they are our own results', async () => {
  const made = await account.create({ duration: 6 });
  const { video_url: url } = await account.finished(made.body.id);
  expect(url).toContain('/media/');
  expect(await paid('wan', [url])).toMatchObject({ charge: '1.100000', input_seconds: 6 });
});

it('every charge follows from the prices of its hold', () => expectSoundLedger(gateway.core));
