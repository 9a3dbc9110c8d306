import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BSON } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sealedFields } from '../../src/base/sealed.ts';
import { readClip } from '../../workshop/simulator/media/clips.ts';
import { png } from '../images/support.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { postForm, type TestAccount } from '../support/client.ts';
import { startGateway, testYaml, type TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';

const [channelYaml = '', modelYaml = ''] = testYaml.split('\nmodels:');
const vendorKey = 'sk-vendorcormorant-canary-4711';
const yaml = `${channelYaml.replace('currency: USD\n', 'currency: USD\nresults: { storage: directory }\n')}
  - id: pictures
    provider: openai
    base_url: \${SIMULATOR_URL}/openai/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    models: { gpt-image: { upstream: gpt-image-1.5 } }
  - id: uploading
    provider: replicate
    base_url: \${SIMULATOR_URL}/replicate/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    limits: { polls_per_second: 100 }
    models:
      uploading:
        upstream: bytedance/seedance-2.0
        mapping:
          fields: { prompt: prompt, duration: duration, videos: reference_videos }
          result: output
models:${modelYaml}
  - id: uploading
    kind: video
    input_types: [reference]
    durations: { min: 1, max: 15, default: 5 }
    inputs: { videos: { max: 3 } }
    expected_seconds: 1
    price: { lines: [{ measure: second, price: "0.10" }] }
  - id: gpt-image
    kind: image
    inputs: { images: { max: 16 } }
    n: { max: 4 }
    price: { lines: [{ measure: million_tokens, price: "40" }] }
`;

const canary = 'cormorant-canary';
const user = 'alice-usercormorant-canary';
const words = {
  prompt: 'promptcormorant-canary sails',
  images: ['https://media.example/imagecormorant-canary.png?signature=imagecormorant-canary'],
  input_type: 'reference',
};

let gateway: TestGateway;
let account: TestAccount;
let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>;
let directory: string;
const tasks: string[] = [];
const secrets = new Map<string, string>([
  ['a word of the caller', canary],
  ['the query of the callback’s address', 'secret=abc'],
  ['the key of a vendor', vendorKey],
]);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stolen-backup-'));
  receiver = await startCallbackReceiver();
  gateway = await startGateway({
    yaml,
    renderSeconds: 0.2,
    environment: {
      DATA_DIR: directory,
      // The upstream cannot reach this URL, so the gateway has to upload stored files to it.
      PUBLIC_URL: 'https://10.9.8.7',
      // A thief who has the payload key can read all histories. Turning encryption off makes them just as readable.
      PAYLOAD_ENCRYPTION: 'off',
    },
  });
  account = await gateway.account();
  await makeVideos();
  await makeImages();
  await setAlert();
  await changeConfiguration();
  await readSecrets();
  await gateway.core.recorder.close();
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
  await rm(directory, { recursive: true, force: true });
});

async function makeVideos(): Promise<void> {
  const metadata = {
    callback_url: receiver.url,
    note: 'a notecormorant-canary',
    safety_identifier: user,
    user: 'personcormorant-canary',
  };
  const data = `data:image/png;base64,${picture('of the caller').toString('base64')}`;
  const keyed = { 'idempotency-key': 'keycormorant-canary' };
  const all = [
    await account.create({ ...words, metadata }, keyed),
    await account.create({ ...words, images: [data], metadata }),
    await account.create({ ...words, prompt: `${words.prompt} [sim:create:400]`, metadata }),
    await account.call('POST', '/v1/videos/generations', {
      body: { model: 'uploading', prompt: words.prompt, videos: [await storeFile()], metadata },
    }),
  ];
  for (const { status, body } of all) {
    expect([status, body.error]).toEqual([200, undefined]);
    tasks.push(body.id);
  }
  const ended = await Promise.all(tasks.map((id) => account.finished(id)));
  expect(ended.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'failed', 'succeeded']);
  await receiver.waitFor(tasks.length);
}

async function storeFile(): Promise<string> {
  const form = new FormData();
  form.append('file', new File([readClip('16x9')], 'filenamecormorant-canary.mp4'));
  const { body } = await postForm(gateway.url, '/v1/files', { key: account.key, form });
  return `asset://${body.id}`;
}

function picture(name: string): Buffer {
  const bytes = Buffer.concat([png(2, 2), randomBytes(300)]);
  secrets.set(`an image ${name}`, bytes.subarray(-200).toString('latin1'));
  return bytes;
}

async function makeImages(): Promise<void> {
  const body = { model: 'gpt-image', prompt: words.prompt, user, size: '1024x1024', quality: 'medium' };
  const post = (more: object, headers: Record<string, string> = {}) =>
    account.call('POST', '/v1/images/generations', { body: { ...body, ...more }, headers });
  const kept = await post({ response_format: 'b64_json' }, { 'idempotency-key': 'imagekeycormorant-canary' });
  expect(kept.status).toBe(200);
  const streamed = await post({ stream: true, partial_images: 2 });
  const sent = [...streamed.text.matchAll(/"b64_json":"([^"]+)"/g)].map(([, text = '']) => text);
  expect(sent.length).toBe(3);
  for (const [n, base64] of [kept.body.data[0].b64_json, ...sent].entries())
    secrets.set(
      `image ${n} of an upstream`,
      Buffer.from(base64, 'base64').subarray(-120, -20).toString('latin1'),
    );
  const edited = await account.call('POST', '/v1/images/edits', {
    body: { ...body, image: `data:image/png;base64,${picture('to edit').toString('base64')}`, async: true },
  });
  expect([edited.status, edited.body.error]).toEqual([200, undefined]);
  const find = () => account.call('GET', `/v1/images/generations/${edited.body.id}`);
  await waitUntil('the image is edited', async () => (await find()).body.status === 'succeeded');
  tasks.push(edited.body.id);
}

async function setAlert(): Promise<void> {
  const url = 'https://example.com/hooks/alertcormorant-canary?secret=alertcormorant-canary';
  const alert = await account.call('POST', '/v1/alert', { body: { threshold: '10', caps: true, url } });
  expect([alert.status, alert.body.error]).toEqual([200, undefined]);
  const caps = {
    users: [
      { user, day: '50' },
      { user: 'othercormorant-canary', day: '1' },
    ],
    reason: 'a test',
  };
  const capped = await gateway.admin('POST', `/accounts/${account.id}/end-user-caps`, caps);
  expect([capped.status, capped.body.error]).toEqual([200, undefined]);
}

async function changeConfiguration(): Promise<void> {
  const draft = async (set: object) => {
    const { revision } = (await gateway.admin('GET', '/config/draft')).body;
    const edited = await gateway.admin('PUT', '/config/draft', { revision, set });
    expect([edited.status, edited.body.error, edited.body.violations]).toEqual([200, undefined, []]);
    return edited.body.revision;
  };
  const revision = await draft({ '/channels/pictures/credentials/a/api_key': vendorKey });
  const published = await gateway.admin('POST', '/config/draft/publish', { revision, reason: 'a test' });
  expect([published.status, published.body.error]).toEqual([200, undefined]);
  await draft({ '/channels/pictures/priority': 3 });
}

async function readSecrets(): Promise<void> {
  const operator = await gateway.admin('POST', '/operators', { name: 'eve', roles: ['read'] });
  const { requests, tasks: records } = gateway.core.stores;
  secrets.set('a key', account.key);
  secrets.set('the secret of callbacks', account.webhookSecret.slice('whsec_'.length));
  secrets.set('the administrator’s token', gateway.adminToken);
  secrets.set('an operator’s token', operator.body.token);
  for (const id of tasks) {
    const { callbackToken } = (await requests.find(id)) ?? {};
    secrets.set(`the token of upstreams’ callbacks for ${id}`, callbackToken ?? '');
    const { outcome } = (await records.find(id)) ?? {};
    const links = outcome?.kind === 'succeeded' ? outcome.items.flatMap(({ url }) => url ?? []) : [];
    for (const link of links) secrets.set(`a link to a result of ${id}`, link);
  }
}

function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'latin1');
  const url = encodeURIComponent(secret);
  // The base64 of a text depends on the text's offset, so leave out the first and last characters.
  const base64 = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .slice(before === 0 ? 0 : 4, bytes.length % 3 === 0 && before === 0 ? undefined : -4),
  );
  const all = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    url,
    url.replaceAll('%20', '+'),
    bytes.toString('hex'),
    Buffer.from(secret, 'utf16le').toString('latin1'),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ];
  return [...new Set(all.map((text) => text.toLowerCase()))].filter((text) => text.length >= 6);
}

function found(text: string): readonly string[] {
  const stolen = text.toLowerCase();
  return [...secrets].flatMap(([name, secret]) => {
    expect([name, secret.length >= 10]).toEqual([name, true]);
    return formsOf(secret).some((form) => stolen.includes(form)) ? [name] : [];
  });
}

function plain(_name: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value;
}

describe('a stolen backup', () => {
  it('reveals nothing in any collection', async () => {
    const collections = await gateway.core.mongo.db.listCollections().toArray();
    expect(collections.length).toBeGreaterThan(20);
    for (const { name } of collections) {
      const documents = await gateway.core.mongo.db.collection(name).find().toArray();
      const text = documents.map((one) => Buffer.from(BSON.serialize(one)).toString('latin1')).join('\n');
      expect([name, found(text)]).toEqual([name, []]);
    }
  });

  it('has a value in every sealed field, so that each field was tested', async () => {
    const { db } = gateway.core.mongo;
    for (const [purpose, { collection, field }] of Object.entries(sealedFields)) {
      const count = await db.collection(collection).countDocuments({ [field]: { $exists: true } });
      expect([purpose, count > 0]).toEqual([purpose, true]);
    }
  });

  it('reveals nothing in Temporal’s histories, memos and search attributes', async () => {
    const { workflow } = gateway.core.client;
    for (const id of tasks) {
      const handle = workflow.getHandle(id);
      const kept = JSON.stringify([await handle.fetchHistory(), await handle.describe()], plain);
      expect(kept).toContain(account.id);
      expect([id, found(Buffer.from(kept).toString('latin1'))]).toEqual([id, []]);
    }
  });

  it('is searched in a way that finds each encoding', () => {
    for (const [name, secret] of secrets) {
      const bytes = Buffer.from(`x${secret} y`, 'latin1');
      const encodings = [
        bytes.toString('latin1'),
        JSON.stringify(bytes.toString('latin1')),
        encodeURIComponent(bytes.toString('latin1')),
        ...(['base64', 'base64url', 'hex'] as const).map((encoding) => bytes.toString(encoding)),
      ];
      for (const text of encodings) expect(found(text)).toContain(name);
    }
  });
});
