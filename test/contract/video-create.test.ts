import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, videoBody } from '../support/gateway.ts';
import type { TestAccount } from '../support/client.ts';
import type { TestGateway } from '../support/gateway.ts';

/** Sections 2.2 and 4.1: what a create answers. */

let gateway: TestGateway;
let account: TestAccount;
beforeAll(async () => {
  gateway = await startGateway();
  account = await gateway.account();
});
afterAll(() => gateway.stop());

const paths = ['/v1/videos/generations', '/v1/video/generations'] as const;

it.each(paths)('POST %s creates, with the headers of the document', async (path) => {
  const answer = await account.call('POST', path, {
    body: videoBody,
    headers: { accept: 'application/json' },
  });
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
  const { body } = await account.create();
  expect(body.status).toBe('submitted');
  for (const field of ['data', 'video_url', 'usage', 'duration', 'error']) {
    expect(body).not.toHaveProperty(field);
  }
});

it('a create takes the amount from the balance before it answers', async () => {
  const payer = await gateway.account({ credit: '1' });
  // It holds its amount for as long as anybody looks.
  await payer.create({ prompt: 'held [sim:never-finishes]' });
  expect(await payer.balance()).toMatchObject({ held: expect.not.stringMatching(/^0\.0+$/) });
});

it('ids are opaque: no two tasks share one, whatever they have in common', async () => {
  const answers = await Promise.all(Array.from({ length: 5 }, () => account.create()));
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(5);
});
