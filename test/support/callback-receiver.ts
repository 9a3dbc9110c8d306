import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { Task } from '../../src/task/record.ts';
import { listen, listener } from './listen.ts';

export interface ReceivedCallback {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: any;
}

export type CallbackReceiver = Awaited<ReturnType<typeof startCallbackReceiver>>;

/**
 * Starts a caller's endpoint that records the requests it gets. It responds with these statuses in order and then
 * repeats the last one. A status of 0 means no response. If a function is passed instead, it gets the request's index
 * and sends the response itself.
 */
export async function startCallbackReceiver(
  answer: readonly number[] | ((response: ServerResponse, index: number) => void) = [204],
) {
  const received: ReceivedCallback[] = [];
  const respond =
    typeof answer === 'function'
      ? answer
      : (response: ServerResponse, index: number) => {
          const status = answer[Math.min(index, answer.length - 1)] ?? 204;
          if (status > 0) response.writeHead(status).end();
        };
  const server = createServer(
    listener(async (request, response) => {
      const text = await textOf(request).catch(() => '');
      const body = text === '' ? undefined : JSON.parse(text);
      received.push({ headers: request.headers, text, body });
      respond(response, received.length - 1);
    }),
  );
  const { url, close } = await listen(server);
  return {
    url: `${url}/hook?secret=abc`,
    received,
    async waitFor(count: number, deadlineMs = 180_000): Promise<void> {
      const endsAt = Date.now() + deadlineMs;
      while (received.length < count) {
        if (Date.now() > endsAt) throw new Error(`${received.length} callbacks arrived, not ${count}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    close,
  };
}

/**
 * Checks that exactly one request, the last one, has delivered the callback. On a busy machine, earlier ones may fail.
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
