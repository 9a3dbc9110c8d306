import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { METADATA_ENCODING_KEY, type Payload, type PayloadCodec } from '@temporalio/common';
import { waitSummaryStart } from '../base/queues.ts';
import proto from '@temporalio/proto';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;
const encoding = 'binary/deflate-aes256gcm';
const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const payloadBytesMax = 2 * 1024 * 1024;
const tagBytes = 16;
/**
 * Suits payloads of about a kilobyte. zlib's defaults are meant for larger ones, and allocating their memory would cost
 * more than the compression itself.
 */
const deflating = { windowBits: 12, memLevel: 5, chunkSize: 4096 };
/**
 * The chunks are small, because a decoded payload keeps its entire chunk in memory for as long as its workflow is
 * there.
 */
const inflating = { maxOutputLength: payloadBytesMax, chunkSize: 2048 };

/**
 * Payloads with these prefixes stay readable, because users of Temporal's own tools cannot decrypt. They are the SDK's
 * responses to these tools (update names and current details), what an update has done or would do, and what a task is
 * waiting for.
 */
const readable = ['{"definition":{', '{"did":', '{"would":', `"${waitSummaryStart}`].map((start) =>
  Buffer.from(start),
);

const readableBytesMax = Math.max(...readable.map((start) => start.length));

/**
 * Compresses payloads and encrypts them with AES-256-GCM. The result consists of nonce, tag and ciphertext. Unencrypted
 * payloads are returned unchanged. They were written before a key was set, come from Temporal's tools, or are meant to
 * be read in the Temporal UI.
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
  // The SDK passes an empty payload as a plain array.
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
