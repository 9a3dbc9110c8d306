import { parentPort } from 'node:worker_threads';
import { compile, evaluate, reasonOf } from './evaluate.ts';
import type { FromThread, ToThread } from './expressions.ts';

const stepsMax = 100_000;

async function answerTo({ source, input, bindings }: ToThread): Promise<string | undefined> {
  if (bindings !== undefined) return evaluate({ source, input, bindings }, stepsMax);
  compile(source);
  return undefined;
}

const send = (message: FromThread): void => parentPort?.postMessage(message);

parentPort?.on('message', (message: ToThread) => {
  answerTo(message).then(
    (text) => send(text === undefined ? { kind: 'done' } : { kind: 'done', text }),
    (error: unknown) => send({ kind: 'failed', reason: reasonOf(error) }),
  );
});

send({ kind: 'ready' });
