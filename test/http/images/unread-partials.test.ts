import { expect, it } from 'vitest';
import { createBodyBudget } from '../../../src/http/bodies/body-budget.ts';
import { partialReadsMax, streamReply } from '../../../src/http/images/image-stream.ts';
import { openaiStream } from '../../../src/http/presenters/image-event.ts';
import { createPlaces } from '../../../src/base/places.ts';
import { firstRecord } from '../../support/task-records.ts';

const partial = 'x'.repeat(1_000);
const budget = createBodyBudget({ name: 'bodies of images', bytesMax: 4_000, accountBytesMax: 3_000 });

/** A stream of a request with two partial images, and the bytes of the partial images that it has sent. */
function openStream(account: string) {
  const memory = budget.open(account);
  const task = firstRecord('task_1', { account, status: 'failed' });
  const body = { model: 'm', prompt: 'x', stream: true, partial_images: 2 };
  const meta = {
    closed: () => new AbortController().signal,
    reserve: (bytes: number) => memory.reserve(bytes),
  };
  const stream = { task, body, meta, nameOf: (name: string) => name, warnings: [] };
  const deps = {
    tasks: { find: () => Promise.resolve(task) },
    partialImages: { find: () => Promise.resolve(partial) },
    partialReads: createPlaces(partialReadsMax),
    isDraining: () => false,
    now: Date.now,
  };
  const presenter = openaiStream('generate', {});
  const reply = streamReply({ ...stream, presenter } as never, deps as never);
  return {
    release: () => memory.release(),
    async sent() {
      let text = '';
      for await (const part of reply.body as AsyncIterable<Buffer>) text += part.toString();
      return text.split(partial).length - 1;
    },
  };
}

it('partial images that wait for their reader use the memory of their account, and of no other', async () => {
  const [one, two, other] = [openStream('greedy'), openStream('greedy'), openStream('other')];
  expect(await one.sent()).toBe(2);
  expect(await two.sent()).toBe(1);
  expect(await other.sent()).toBe(1);
  for (const each of [one, two, other]) each.release();
  expect(await openStream('greedy').sent()).toBe(2);
});
