import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, videoBody, type TestGateway } from '../support/gateway.ts';
import { createOnce, persevere, type TestAccount } from '../support/client.ts';

/** Tests sections 2.2 and 4.1 of the interface document: the response to a create. */

let gateway: TestGateway;
let account: TestAccount;
beforeAll(async () => {
  gateway = await startGateway();
  account = await gateway.account();
});
afterAll(() => gateway.stop());

const paths = ['/v1/videos/generations', '/v1/video/generations'] as const;

it.each(paths)('POST %s creates, with the headers of the document', async (path) => {
  const headers = { accept: 'application/json', 'idempotency-key': randomUUID() };
  const answer = await persevere(() => account.call('POST', path, { body: videoBody, headers }));
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  expect(answer.body).toMatchObject({
    id: expect.stringMatching(/^task_[0-9A-Za-z]{22,}$/),
    task_id: answer.body.id,
    object: 'video.generation.task',
    status: 'submitted',
    message: expect.stringMatching(/\w/),
  });
});

it('a create confirms the submission and holds no video', async () => {
  const { body } = await createOnce(account.call, paths[0], videoBody);
  expect(body.status).toBe('submitted');
  for (const field of ['data', 'video_url', 'usage', 'duration', 'error']) {
    expect(body).not.toHaveProperty(field);
  }
});

it('a create takes the amount from the balance before it answers', async () => {
  const payer = await gateway.account({ credit: '1' });
  await payer.made({ prompt: 'held [sim:never-finishes]' });
  expect(await payer.balance()).toMatchObject({ held: expect.not.stringMatching(/^0\.0+$/) });
});

it('ids are opaque: no two tasks share one, whatever they have in common', async () => {
  const ids = await Promise.all(Array.from({ length: 5 }, () => account.made()));
  expect(new Set(ids).size).toBe(5);
});
