import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { runDemo } from '../../src/local/demo.ts';
import { listen, listener } from '../support/listen.ts';

async function startBusyGateway() {
  const keys: unknown[] = [];
  const asked = new Set<string>();
  const server = createServer(
    listener(async (incoming, answer) => {
      const path = `${incoming.method} ${incoming.url}`;
      const sent: any = incoming.method === 'POST' ? await json(incoming) : undefined;
      const creates = path === 'POST /v1/videos/generations';
      if (creates) keys.push(incoming.headers['idempotency-key']);
      if (path === 'GET /video.mp4') return void answer.end(Buffer.from('\0\0\0\u0018ftypisom'));
      if (!asked.has(path)) {
        asked.add(path);
        return void answer.writeHead(503).end('{"error":{"code":"service_unavailable"}}');
      }
      if (creates) await callBack(sent.metadata.callback_url);
      answer.end(JSON.stringify(bodyOf(path, `http://${incoming.headers.host}`)));
    }),
  );
  const { url, close } = await listen(server);
  onTestFinished(close);
  return { apiUrl: url, keys };
}

async function callBack(url: string): Promise<void> {
  await fetch(url, { method: 'POST', headers: { 'webhook-id': 'task_1', 'webhook-signature': 'v1,x' } });
}

function bodyOf(path: string, url: string): object {
  if (path.endsWith('/balance')) return { currency: 'USD', available: '1', held: '0' };
  if (path.endsWith('/models'))
    return { data: [{ id: 'clip', kind: 'video', capabilities: { input_types: ['text_to_video'] } }] };
  if (path.endsWith('/estimate')) return { currency: 'USD', hold: '1', expected: '1' };
  const usage = { completion_tokens: 0, total_tokens: 0 };
  return { id: 'task_1', status: 'succeeded', video_url: `${url}/video.mp4`, duration: 5, usage };
}

it('the demo retries while the gateway is busy, and creates its task once', async () => {
  const { apiUrl, keys } = await startBusyGateway();
  const printed: string[] = [];
  expect(await runDemo({ apiUrl, apiKey: 'sk-x', print: (line) => printed.push(line) })).toBe(true);
  expect(printed.join('\n')).toContain('callback arrived, signed: task_1');
  expect(keys).toEqual([expect.any(String), keys[0]]);
});
