import { BSON } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';

/** What a caller wrote, and the secrets of an account, in everything that is stored of a task. */
describe('what was written in confidence', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    // Histories as they are before they are encrypted.
    gateway = await startGateway({ environment: { PAYLOAD_ENCRYPTION: 'off' } });
  });
  afterAll(() => gateway.stop());

  async function databaseText(): Promise<string> {
    const collections = await gateway.core.mongo.db.collections();
    const documents = await Promise.all(collections.map((collection) => collection.find({}).toArray()));
    return documents
      .map((list) => list.map((one) => Buffer.from(BSON.serialize(one)).toString('latin1')).join())
      .join();
  }

  const historyText = async (task: string) =>
    Buffer.from(
      JSON.stringify(await gateway.core.client.workflow.getHandle(task).fetchHistory(), (_, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
      ),
    ).toString('latin1');

  it('is in no document of MongoDB and in no history, readable', async () => {
    const account = await gateway.account();
    const receiver = await startCallbackReceiver();
    const image = 'https://media.example/first.png?signature=imagecanary';
    const words = { prompt: 'promptcanary sails', images: [image], input_type: 'reference' };
    const metadata = {
      callback_url: receiver.url,
      note: 'a notecanary',
      safety_identifier: 'usercanary',
      user: 'personcanary',
    };
    const keyed = { 'idempotency-key': 'keycanary' };
    const ended = await account.create({ ...words, metadata }, keyed);
    expect(ended.status).toBe(200);
    expect((await account.finished(ended.body.id))['status']).toBe('succeeded');
    const refused = await account.create({ ...words, prompt: `${words.prompt} [sim:create:400]`, metadata });
    expect((await account.finished(refused.body.id))['status']).toBe('failed');
    await receiver.waitFor(2);
    await gateway.core.recorder.close();

    const secrets = [account.key, account.webhookSecret.slice('whsec_'.length), gateway.adminToken];
    const database = await databaseText();
    const histories = await Promise.all([ended.body.id, refused.body.id].map(historyText));
    for (const text of [database, ...histories]) {
      expect(text).toContain(account.id);
      expect(text.match(/\w*canary|secret=abc/g)).toBeNull();
      for (const secret of secrets) expect(text.includes(secret)).toBe(false);
    }
    expect(await gateway.core.stores.exchanges.find(ended.body.id)).not.toEqual([]);
    receiver.close();
  });
});
