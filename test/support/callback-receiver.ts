import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { expect } from 'vitest';
import type { Task } from '../../src/task/record.ts';

export interface ReceivedCallback {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: any;
}

/**
 * A caller's endpoint. Records incoming requests and responds with these statuses, repeating the last one. 0 means no
 * response.
 */
export async function startCallbackReceiver(statuses: readonly number[] = [204]) {
  const received: ReceivedCallback[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const status = statuses[Math.min(received.length, statuses.length - 1)] ?? 204;
      received.push({ headers: request.headers, text, body: JSON.parse(text) });
      if (status > 0) response.writeHead(status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/hook?secret=abc`,
    received,
    async waitFor(count: number, deadlineMs = 180_000): Promise<void> {
      const endsAt = Date.now() + deadlineMs;
      while (received.length < count) {
        if (Date.now() > endsAt) throw new Error(`${received.length} callbacks arrived, not ${count}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    close: () => {
      server.closeAllConnections();
      return server.close();
    },
  };
}

/**
 * Expects that every request to the receiver is on record, and that only the last one delivered the task's callback.
 * Earlier ones may have failed, because a busy machine may not respond in time.
 */
export function expectDeliveredOnce(
  { received }: { readonly received: readonly ReceivedCallback[] },
  task: Task | undefined,
): void {
  const attempts = task?.callback?.attempts ?? [];
  const isDelivered = attempts.map(({ status = 0 }) => status >= 200 && status < 300);
  expect(isDelivered, `only the last request delivered the callback: ${JSON.stringify(attempts)}`).toEqual([
    ...isDelivered.slice(1).fill(false),
    true,
  ]);
  expect(received.filter(({ headers }) => headers['webhook-id'] === task?.id)).toHaveLength(attempts.length);
}
