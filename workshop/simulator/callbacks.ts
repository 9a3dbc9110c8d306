import { createHmac, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Statistics } from './statistics.ts';

const attemptsMax = 4;
const acknowledgeMsMax = 5000;
const firstRetryMs = 1000;
/** The maximum number of deliveries in flight. Each has its own connection, so none waits for another. */
const deliveriesInFlightMax = 64;

export interface Delivery {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly failing: boolean;
}

interface Sending {
  readonly body: string | Readable;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** A response of 2xx within 5 s acknowledges a callback. Without one, the callback is retried three times. */
export class CallbackSender {
  readonly #statistics: Statistics;
  readonly #report: (message: string) => void;
  readonly #agent = new Agent({ connections: deliveriesInFlightMax });
  readonly #waiting: (() => void)[] = [];
  #inFlight = 0;
  #closed = false;

  constructor(statistics: Statistics, report: (message: string) => void) {
    this.#statistics = statistics;
    this.#report = report;
  }

  async deliver(delivery: Delivery): Promise<void> {
    for (let attempt = 1; attempt <= attemptsMax && !this.#closed; attempt += 1) {
      if (await this.#limited(() => this.#post(delivery))) {
        this.#statistics.countCallback('delivered');
        return;
      }
      if (attempt < attemptsMax) await sleep(firstRetryMs * 2 ** (attempt - 1), undefined, { ref: false });
    }
    this.#statistics.countCallback('failed');
    this.#report(`callback abandoned after ${attemptsMax} attempts`);
  }

  async ask(url: string, body: string, timeoutMs: number): Promise<unknown> {
    try {
      const response = await this.#send(url, { body, timeoutMs });
      const text = await response.body.text();
      return response.statusCode === 200 ? JSON.parse(text) : undefined;
    } catch {
      return undefined;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#agent.destroy();
  }

  async #post({ url, body, headers, failing }: Delivery): Promise<boolean> {
    this.#statistics.countCallback('attempts');
    try {
      const response = await this.#send(url, {
        headers,
        body: failing ? Readable.from(brokenBody(body)) : body,
        timeoutMs: acknowledgeMsMax,
      });
      await response.body.dump();
      return response.statusCode >= 200 && response.statusCode < 300;
    } catch {
      return false;
    }
  }

  #send(url: string, { body, headers, timeoutMs }: Sending) {
    return request(url, {
      method: 'POST',
      dispatcher: this.#agent,
      headers: { 'content-type': 'application/json', 'user-agent': 'simulator', ...headers },
      body,
      // Undici counts these timeouts in ticks of its own timer, so that callbacks do not fail when the machine freezes.
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
  }

  async #limited(post: () => Promise<boolean>): Promise<boolean> {
    if (this.#inFlight >= deliveriesInFlightMax) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    this.#inFlight += 1;
    try {
      return await post();
    } finally {
      this.#inFlight -= 1;
      this.#waiting.shift()?.();
    }
  }
}

async function* brokenBody(body: string): AsyncGenerator<string> {
  yield body.slice(0, Math.max(1, body.length >> 1));
  await sleep(20);
  throw new Error('The callback is broken off on purpose.');
}

/** Signs with the key after `whsec_`. Uses real time, because receivers compare the timestamp with their own clocks. */
export function signStandardWebhook(secret: string, body: string): Record<string, string> {
  const id = randomUUID();
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
