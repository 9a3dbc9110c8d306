import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { defined } from '../../src/base/defined.ts';
import { formatMicros } from '../../src/money/money.ts';
import { clipOf } from '../../workshop/simulator/media/clips.ts';
import { readRepositoryFile } from '../deploy/compose-file.ts';
import { png } from '../images/support.ts';
import { persevere, type Answer, type TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { expectSoundLedger } from '../support/sound-ledger.ts';
import { casesOf, example, exampleText, film, inputSeconds, picture, type Case } from './price-cases.ts';
import { billOf, termsOf, type Terms } from './price-lists.ts';

/**
 * Sends typical requests for every model of gateway.example.yaml to a gateway that uses the prices in that file. The
 * simulator reports what it rendered. The ledger must have charged what the vendors bill for that.
 */

const clip = clipOf({ width: 1280, height: 720, seconds: inputSeconds });
const fileSchema = z.looseObject({
  models: z.array(z.looseObject({})),
  channels: z.array(z.looseObject({ provider: z.string(), base_url: z.string() })),
});

function simulatedExample(): string {
  const local = fileSchema.parse(parse(readRepositoryFile('src/local/gateway.local.yaml')));
  const addressOf = new Map(local.channels.map((channel) => [channel.provider, channel.base_url]));
  const file = fileSchema.parse(parse(exampleText));
  const networks = ['127.0.0.0/8'];
  const channels = file.channels.map((channel) => ({
    ...channel,
    base_url: addressOf.get(channel.provider),
    credentials: [{ id: 'a', api_key: 'simulated' }],
    private_networks: networks,
    private_link_networks: networks,
    limits: { submits_per_second: 200, polls_per_second: 200 },
    timeouts: { submit_ms: 300_000, poll_ms: 60_000 },
  }));
  const models = file.models.map((model) => ({ ...model, expected_seconds: 1 }));
  return stringify({ ...file, channels, models });
}

let gateway: TestGateway;
let account: TestAccount;
let media: Server;
let mediaUrl = '';

const covered = new Set<string>();

/**
 * Keeps one case for each price of a resolution or size, and one for each kind of input, length and quality. If an
 * earlier model already covers a kind, only the last case of that kind is kept. price-lists.test.ts compares every
 * price.
 */
function typicalCases(cases: readonly Case[], terms: Terms): Case[] {
  const kindOf = ({ name }: Case) => /video|frame|reference|with(?:out)? sound|est$/.exec(name)?.[0] ?? name;
  const isPlain = ({ name }: Case) => /^\d+\S*$/.test(name);
  const typical = [
    ...new Map(cases.map((one) => [isPlain(one) ? billOf(terms, one) : kindOf(one), one])).values(),
  ];
  return typical.filter((one, index) => {
    const kind = `${one.plan.candidates[0]?.channel} ${terms.by} ${kindOf(one)}`;
    const isNew = !covered.has(kind);
    covered.add(kind);
    return isNew || index === typical.length - 1;
  });
}

const runs = example.models.map((model) => {
  const terms = termsOf.get(model.id);
  if (terms === undefined) throw new Error(`${model.id} has no list`);
  return [model.id, { terms, cases: typicalCases(casesOf(model), terms) }] as const;
});

beforeAll(async () => {
  media = createServer(({ url }, response) => response.end(url === '/a.mp4' ? clip : png(1024, 1024)));
  await new Promise<void>((resolve) => media.listen(0, '127.0.0.1', resolve));
  const address = media.address();
  mediaUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  // Long enough to read an input video, even on a busy machine.
  const environment = { MEDIA_PROBE_MS: '30000' };
  gateway = await startGateway({ yaml: simulatedExample(), renderSeconds: 0, environment });
  account = await gateway.account({ credit: '10000' });
});
afterAll(async () => {
  await gateway.stop();
  media.close();
});

const isInline = (model: string) => model.startsWith('runway-');
const inlined = new Map([
  [picture, `data:image/png;base64,${png(64, 64).toString('base64')}`],
  [film, `data:video/mp4;base64,${clip.toString('base64')}`],
]);

function bodyOf({ asked }: Case): Record<string, unknown> {
  const { model, prompt, size, extra } = asked;
  const served = (url: string) =>
    (isInline(model) ? inlined.get(url) : undefined) ?? mediaUrl + new URL(url).pathname;
  if (asked.kind === 'image') {
    const { n, quality, images } = asked;
    const image = images.flatMap((one) => (one.form === 'url' ? [served(one.url)] : []));
    return { model, prompt, n, ...defined({ size, quality }), ...(image.length === 0 ? {} : { image }) };
  }
  const { resolution, ratio, duration, draft, generateAudio, firstFrame, references, videos } = asked;
  const frames = firstFrame === undefined ? [] : [{ url: firstFrame, role: 'first_frame' }];
  const images = [...frames, ...references.map((url) => ({ url, role: 'reference' }))];
  return {
    model,
    prompt,
    ...defined({ resolution, ratio, duration, draft, generate_audio: generateAudio }),
    images: images.map(({ url, role }) => ({ url: served(url), role })),
    videos: videos.map(served),
    metadata: extra,
  };
}

async function run(one: Case, terms: Terms) {
  const path = `/v1/${one.asked.kind}s/generations`;
  const isEdit = one.asked.kind === 'image' && one.asked.operation === 'edit';
  const request = {
    body: bodyOf(one),
    headers: { 'idempotency-key': encodeURIComponent(`${one.asked.model} ${one.name}`) },
  };
  const created = await persevere(() => account.call('POST', isEdit ? '/v1/images/edits' : path, request));
  return {
    charged: await chargeOf(path, created),
    billed: formatMicros(billOf(terms, asRendered(one, created))),
  };
}

async function chargeOf(path: string, { status, body, text, headers }: Answer): Promise<string> {
  if (status !== 200) return text;
  const { id: task = headers['x-mediary-image'] ?? '' } = body;
  let ended = { ...body, status: body.status ?? 'succeeded' };
  while (ended.status !== 'succeeded' && ended.status !== 'failed') {
    const answer = await persevere(() => account.call('GET', `${path}/${task}?wait=5`));
    if (answer.status !== 200) return answer.text;
    ended = answer.body;
    const { needs_attention: reason } = (
      await persevere(() => gateway.admin('GET', `/admin/v1/tasks/${task}`))
    ).body;
    if (typeof reason === 'string') return reason;
  }
  const entries = await gateway.core.ledger.entriesOfTask(task);
  const [hold, settled] = ['hold', 'settle'].map((kind) => entries.find((entry) => entry.kind === kind));
  if (hold === undefined || settled === undefined) return JSON.stringify(ended.error);
  const amount = settled.amount + (settled.excess ?? 0n);
  return `${formatMicros(amount)}${amount > hold.amount ? `, and ${formatMicros(hold.amount)} held` : ''}`;
}

const usageSchema = z.object({
  output_tokens: z.number(),
  input_tokens_details: z.object({ text_tokens: z.number(), image_tokens: z.number() }),
});

/** There is no formula for an image's tokens, so use the count from the response if there is one. */
function asRendered(one: Case, { body }: Answer): Case {
  const usage = usageSchema.safeParse(body.usage).data;
  if (usage === undefined || one.facts.usage === undefined) return one;
  const { text_tokens: inputTextTokens, image_tokens: inputImageTokens } = usage.input_tokens_details;
  return {
    ...one,
    facts: { ...one.facts, usage: { inputTextTokens, inputImageTokens } },
    counts: { ...one.counts, output: usage.output_tokens / 1e6 },
  };
}

it.concurrent.each(runs)('%s', async (_, { terms, cases }) => {
  const charged: string[] = [];
  const billed: string[] = [];
  for (const one of cases) {
    const amounts = await run(one, terms);
    charged.push(`${one.name}: ${amounts.charged}`);
    billed.push(`${one.name}: ${amounts.billed}`);
  }
  expect(charged).toEqual(billed);
});

it('the ledger is sound', async () => {
  await expectSoundLedger(gateway.core);
});
