import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { METADATA_ENCODING_KEY } from '@temporalio/common';
import { waitSummaryStart } from '../base/queues.ts';
import proto from '@temporalio/proto';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;
const encoding = 'binary/deflate-aes256gcm';
const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
/** Temporal refuses larger ones. */
const payloadBytesMax = 2 * 1024 * 1024;
const tagBytes = 16;
/** Payloads are about a kilobyte: what zlib sets up for larger ones costs more than the work itself. */
const deflating = { windowBits: 12, memLevel: 5, chunkSize: 4096 };
/** What is read stays in memory with its whole chunk, as long as its workflow does. */
const inflating = { maxOutputLength: payloadBytesMax, chunkSize: 2048 };

/**
 * What is written for people who look at a task with Temporal's own tools, which cannot decrypt: what the SDK answers them
 * with (the names of the updates and the current details), what an update has done or would do, and what a task waits for.
 * Known by how they begin.
 */
const readable = ['{"definition":{', '{"did":', '{"would":', `"${waitSummaryStart}`].map((start) =>
  Buffer.from(start),
);

const readableBytesMax = Math.max(...readable.map((start) => start.length));

/**
 * Deflates and encrypts payloads with AES-256-GCM before it reaches Temporal: nonce, tag, ciphertext. Payloads that are not
 * encrypted (written before a key was set, by Temporal's tools, or for people) pass through when read.
 */
export function createPayloadCodec(key: Buffer): PayloadCodec {
  return {
    encode: (payloads) =>
      Promise.resolve(payloads.map((payload) => (isReadable(payload) ? payload : encrypt(payload, key)))),
    decode: (payloads) => Promise.resolve(payloads.map((payload) => decrypt(payload, key))),
  };
}

function isReadable({ data }: Payload): boolean {
  if (data === null || data === undefined) return false;
  // An empty one comes as a plain list from the SDK.
  const head = Buffer.from(data.slice(0, readableBytesMax));
  return readable.some((start) => start.equals(head.subarray(0, start.length)));
}

function encrypt(payload: Payload, key: Buffer): Payload {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce);
  const plain = deflateRawSync(PayloadMessage.encode(payload).finish(), deflating);
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return {
    metadata: { [METADATA_ENCODING_KEY]: Buffer.from(encoding) },
    data: Buffer.concat([nonce, cipher.getAuthTag(), sealed]),
  };
}

function decrypt(payload: Payload, key: Buffer): Payload {
  const written = payload.metadata?.[METADATA_ENCODING_KEY];
  const { data } = payload;
  if (written === undefined || data === null || data === undefined) return payload;
  if (Buffer.from(written).toString() !== encoding) return payload;
  const bytes = Buffer.from(data);
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  const plain = Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]);
  return PayloadMessage.decode(inflateRawSync(plain, inflating));
}
