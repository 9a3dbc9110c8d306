import { parentPort } from 'node:worker_threads';
import type { MediaFacts } from '../models/media-facts.ts';
import { defined } from '../base/defined.ts';
import type { FromThread, ToThread } from './probe-messages.ts';
import { readMedia } from './read-media.ts';

/** Runs in a thread so that a hostile file can exhaust only this thread's time and memory. */

type Answer = Extract<ToThread, { kind: 'data' }>;

const port = parentPort;
const reads = new Map<number, (answer: Answer) => void>();
let lastRead = 0;

const send = (message: FromThread): void => port?.postMessage(message);

async function read(start: number, end: number): Promise<Uint8Array> {
  lastRead += 1;
  const id = lastRead;
  const answered = new Promise<Answer>((resolve) => reads.set(id, resolve));
  send({ kind: 'read', read: id, start, end });
  const { data } = await answered;
  if (data === undefined) throw new Error('the bytes could not be read');
  return data;
}

async function probe(bytes: number): Promise<MediaFacts | undefined> {
  try {
    return await readMedia({ bytes, read });
  } catch {
    return undefined;
  }
}

port?.on('message', (message: ToThread) => {
  if (message.kind === 'probe') {
    void probe(message.bytes).then((facts) => send({ kind: 'done', ...defined({ facts }) }));
    return;
  }
  reads.get(message.read)?.(message);
  reads.delete(message.read);
});

send({ kind: 'ready' });
