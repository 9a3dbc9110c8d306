import { testSealing } from '../support/sealing.ts';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSealer } from '../../src/access/sealer.ts';
import { openSecrets } from '../../src/access/secrets.ts';
import { webhookSecretsOf } from '../../src/access/webhook-secrets.ts';
import { sealedFields, sealPurposes, type SealPurpose } from '../../src/base/sealed.ts';
import { createRootKeyStore } from '../../src/store/root-key.ts';
import { createStores, type Stores } from '../../src/store/stores.ts';
import { openDatabase } from '../capacity/support.ts';
import { firstRecord } from '../support/task-records.ts';

const key = randomBytes(32);
const secrets = createSealer([key]);
let database: Awaited<ReturnType<typeof openDatabase>>;
let stores: Stores;
beforeAll(async () => {
  database = await openDatabase();
  stores = createStores(database.db, Date.now, { ...testSealing, ...secrets });
});
afterAll(() => database.drop());

interface Field {
  readonly write: (id: string) => Promise<unknown>;
  readonly read: (id: string) => Promise<string | undefined>;
}

const publication = (text: string) => ({ text, hash: text, currency: 'USD', by: 'ada', node: 'n', at: 1 });

const named = ['root-key', 'configuration', 'replaced-configuration', 'draft'] as const;

const fields: Readonly<Record<Exclude<SealPurpose, (typeof named)[number]>, Field>> = {
  'configured-secret': {
    write: (name) =>
      stores.configDrafts.keepSecret({ name, value: `key of ${name}`, ending: '', at: 1, by: 'ada' }),
    read: async (name) => (await stores.configDrafts.openSecrets([name])).get(name),
  },
  'webhook-secret': {
    write: (id) => {
      const sealed = secrets.seal({ purpose: 'webhook-secret', id }, `whsec_${id}`);
      return stores.accounts.insert({
        id,
        name: '',
        overdraftLimit: 0n,
        webhookSecrets: [sealed],
        createdAt: 1,
      });
    },
    read: async (id) => (await webhookSecretsOf({ stores, secrets })(id))[0],
  },
  'alert-address': {
    write: (id) => {
      const address = secrets.seal({ purpose: 'alert-address', id }, `https://${id}`);
      return stores.accountAlerts.set({ account: id, threshold: 1n, address });
    },
    read: async (id) => {
      const [alert] = await stores.accountAlerts.findMany([id]);
      return alert && secrets.open({ purpose: 'alert-address', id }, alert.address);
    },
  },
  request: {
    write: (task) =>
      stores.requests.insert({
        task,
        account: 'acc',
        request: { kind: 'video', prompt: `prompt of ${task}` } as never,
        callbackToken: 'token',
        deadlineAt: Date.now(),
        warnings: [],
        dropped: [],
        by: 'try',
      }),
    read: async (task) => (await stores.requests.find(task))?.request.prompt,
  },
  prompt: {
    write: (task) => fields.request.write(task),
    read: async (task) => (await stores.requests.prompts([task])).get(task),
  },
  'upstream-words': {
    write: (id) => {
      const message = `words about ${id}`;
      const outcome = { kind: 'failed', code: 'x', message, failure: { class: 'internal' } } as const;
      return stores.tasks.insert(firstRecord(id, { outcome }));
    },
    read: async (id) => {
      const { outcome } = (await stores.tasks.find(id)) ?? {};
      return outcome?.kind === 'failed' ? outcome.message : undefined;
    },
  },
  'result-links': {
    write: (id) => {
      const items = [{ url: `https://files.example/${id}?signature=1`, base64: id }];
      return stores.tasks.insert(firstRecord(id, { outcome: { kind: 'succeeded', items, facts: {} } }));
    },
    read: async (id) => {
      const { outcome } = (await stores.tasks.find(id)) ?? {};
      return outcome?.kind === 'succeeded' ? (outcome.items[0]?.url ?? 'cannot be read') : undefined;
    },
  },
  'file-name': {
    async write(id) {
      await stores.files.begin({
        id,
        account: 'acc',
        key: 'key_1',
        name: '0.png',
        filename: `${id}.png`,
        purpose: 'media',
        bytes: 1,
        media: { type: 'image/png' } as never,
        createdAt: 1,
        expiresAt: Date.now() + 60_000,
      });
      await stores.files.complete(id, Date.now() + 60_000);
    },
    read: async (id) => (await stores.files.find(id))?.filename,
  },
  'upload-link': {
    async write(id) {
      const [file = '', channel = '', credential = ''] = uploadOf(id);
      const key = { file, channel, credential };
      const later = Date.now() + 60_000;
      await stores.fileUploads.claim(key, 'owner');
      const link = `https://upstream.example/${id}`;
      await stores.fileUploads.complete(key, 'owner', { id, url: link, usableUntil: later, dueAt: later });
    },
    async read(id) {
      const [file = '', channel = '', credential = ''] = uploadOf(id);
      const claim = await stores.fileUploads.claim({ file, channel, credential }, 'other');
      return claim.kind === 'ready' ? claim.url : undefined;
    },
  },
  'partial-image': {
    async write(id) {
      const [task = '', n] = uploadOf(id);
      await stores.partialImages.write(task, Number(n), `image of ${id}`);
    },
    async read(id) {
      const [task = '', n] = uploadOf(id);
      return stores.partialImages.find(task, Number(n));
    },
  },
  answer: {
    async write(id) {
      const [made = ''] = uploadOf(id);
      const name = { id: `repeat of ${made}`, made };
      await stores.repeats.claim({ ...name, fingerprint: 'f', keptMs: 60_000, isAwaited: true });
      const body = [Buffer.from(`an answer about ${id}`)];
      await stores.repeats.store(name, { status: 200, mayRetry: false, body });
    },
    async read(id) {
      const [made = ''] = uploadOf(id);
      const [body] = await stores.repeats.readBody(made, 1);
      return body && Buffer.from(body).toString();
    },
  },
};

function uploadOf(id: string): readonly string[] {
  return id.split('/');
}

const idOf = (purpose: string, whose: string): string =>
  purpose === 'upload-link'
    ? `${whose}_${purpose}/channel/1`
    : purpose === 'answer' || purpose === 'partial-image'
      ? `${whose}_${purpose}/0`
      : `${whose}_${purpose}`;

describe.each(Object.entries(fields))('%s', (purpose, { write, read }) => {
  const { collection, field } = sealedFields[purpose as SealPurpose];

  it('of one record cannot be read as that of another', async () => {
    const [own, other] = [idOf(purpose, 'own'), idOf(purpose, 'other')];
    await write(own);
    await write(other);
    const said = await read(other);
    expect(said).toContain(other);
    expect(await read(own)).toContain(own);
    const documents = database.db.collection<{ _id: string }>(collection);
    const copied = (await documents.findOne({ _id: other }))?.[field as '_id'];
    expect(copied).toBeDefined();
    await documents.updateOne({ _id: own }, { $set: { [field]: copied } });
    const shown = await read(own).catch((error: unknown) => String(error));
    expect(shown).not.toContain(other);
    expect(shown).toMatch(/cannot be (?:opened|read)/);
    expect(await read(other)).toBe(said);
  });
});

it('a root key that is stored in another record opens nothing', async () => {
  const store = createRootKeyStore(database.db);
  await openSecrets([key], store);
  await expect(openSecrets([key], { ...store, id: 'other' as never })).rejects.toThrow('cannot be opened');
});

it('an earlier version and a draft can be opened only in their own records', async () => {
  for (const text of ['one', 'two', 'three']) await stores.configurations.publish(publication(text));
  expect(await stores.configurations.textOf(2)).toBe('two');
  const versions = database.db.collection<{ _id: string; sealed: object }>('replaced_configurations');
  const [first, second] = await versions.find().sort({ _id: 1 }).toArray();
  await versions.updateOne({ _id: second?._id ?? '' }, { $set: { sealed: first?.sealed ?? {} } });
  await expect(stores.configurations.textOf(2)).rejects.toThrow('cannot be opened');
  expect(await stores.configDrafts.write({ revision: 0, base: 1, text: 'draft', edits: [] })).toBe(true);
  const drafts = database.db.collection('configuration_drafts');
  await drafts.updateOne({}, { $set: { sealed: first?.sealed ?? {} } });
  await expect(stores.configDrafts.read()).rejects.toThrow('cannot be opened');
});

it('the published configuration can be opened only in its own record', async () => {
  await stores.configurations.publish(publication('a file'));
  expect((await stores.configurations.read())?.text).toBe('a file');
  const sealed = secrets.seal({ purpose: 'configuration', id: 'other' }, 'another file');
  const { collection, field } = sealedFields.configuration;
  const data = Buffer.from(sealed.data);
  await database.db.collection(collection).updateOne({}, { $set: { [`${field}.data`]: data } });
  await expect(stores.configurations.read()).rejects.toThrow('cannot be opened');
});

it('are all fields that contain sealed values', () => {
  expect([...Object.keys(fields), ...named].toSorted()).toEqual(sealPurposes.toSorted());
});
