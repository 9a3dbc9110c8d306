import type { Client } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import { historyToJSON, JSONToPayload, payloadToJSON } from '@temporalio/common/lib/proto-utils.js';
import { z } from 'zod';
import { readDeadlineMs } from './connection.ts';

/**
 * Returns JSON. Payloads are readable, because they contain only ids and small facts. Returns undefined if Temporal no
 * longer has the history or does not respond. Never throws.
 */
export async function readTaskHistory(client: Client, task: string): Promise<unknown> {
  try {
    const history = await client.withDeadline(Date.now() + readDeadlineMs, () =>
      client.workflow.getHandle(task).fetchHistory(),
    );
    const json: unknown = JSON.parse(historyToJSON(history));
    return await readable(json, client.options.loadedDataConverter.payloadCodecs);
  } catch {
    return undefined;
  }
}

const payloadSchema = z.object({ metadata: z.record(z.string(), z.string()), data: z.string().optional() });

/** These fields identify machines and their files. They are not needed for a replay. */
const unneeded = new Set(['stackTrace', 'identity']);

async function readable(value: unknown, codecs: readonly PayloadCodec[]): Promise<unknown> {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Promise.all(value.map((item) => readable(item, codecs)));
  const { data: payload } = payloadSchema.safeParse(value);
  if (payload?.metadata['encoding'] !== undefined) return decode(payload, codecs);
  const fields = Object.entries(value).filter(([name]) => !unneeded.has(name));
  const read = fields.map(async ([name, item]) => [name, await readable(item, codecs)] as const);
  return Object.fromEntries(await Promise.all(read));
}

async function decode(
  json: z.output<typeof payloadSchema>,
  codecs: readonly PayloadCodec[],
): Promise<unknown> {
  const { metadata, data = '' } = json;
  let payloads = [JSONToPayload({ metadata, data })];
  for (const codec of codecs.toReversed()) payloads = await codec.decode(payloads);
  const [payload] = payloads;
  return payload === undefined ? json : payloadToJSON(payload);
}
