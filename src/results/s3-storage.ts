import { defined } from '../base/defined.ts';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  NotFound,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import type { PutObjectCommandInput, S3ClientConfig } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { GatewayConfig } from '../config/gateway-file.ts';
import type { DirectAsk, ResultStorage } from './storage.ts';

export type S3Settings = NonNullable<GatewayConfig['results']['s3']>;

interface S3Storage extends ResultStorage {
  /** Leaves what is there already, also if another process writes it meanwhile. */
  writeNew: ResultStorage['write'];
}

/** A file of unknown length goes up in parts: this much of it is in memory at a time. */
const partBytes = 8 * 1024 * 1024;
const partsAtOnce = 2;
const connectTimeoutMs = 5_000;
const requestTimeoutMs = 60_000;

/**
 * Any server that speaks S3. Its address is the operator's, so the library's own HTTP is used. With `links: gateway` callers
 * never see the bucket, which may be unreachable for them; with `presigned` they are sent to it, and it stays private.
 */
export function createS3Storage(settings: S3Settings): S3Storage {
  const client = new S3Client(clientOptions(settings));
  const locate = (key: string) => ({ Bucket: settings.bucket, Key: `${settings.prefix}${key}` });
  const send = async (params: PutObjectCommandInput): Promise<void> => {
    await new Upload({ client, params, partSize: partBytes, queueSize: partsAtOnce }).done();
  };
  const fileOf = (...[key, body, mediaType]: Parameters<ResultStorage['write']>) => ({
    ...locate(key),
    Body: Readable.from(body, { objectMode: false }),
    ContentType: mediaType,
  });
  return {
    write: (...file) => send(fileOf(...file)),

    async writeNew(...file) {
      try {
        await send({ ...fileOf(...file), IfNoneMatch: '*' });
      } catch (error) {
        if (!isThere(error)) throw error;
      }
    },

    async stat(key) {
      try {
        const { ContentLength: bytes = 0, ETag: etag = '' } = await client.send(
          new HeadObjectCommand(locate(key)),
        );
        return { bytes, etag };
      } catch (error) {
        if (error instanceof NotFound) return undefined;
        throw error;
      }
    },

    async read(key, { start, end }) {
      const { Body: body } = await client.send(
        new GetObjectCommand({ ...locate(key), Range: `bytes=${start}-${end}` }),
      );
      if (!(body instanceof Readable)) throw new Error('the storage sent no body');
      return body;
    },

    async remove(key) {
      await client.send(new DeleteObjectCommand(locate(key)));
    },

    close: () => client.destroy(),

    ...(settings.links === 'gateway' ? {} : { directAddress }),
  };

  function directAddress(key: string, { method, seconds, mediaType }: DirectAsk): Promise<string> {
    const file = { ...locate(key), ResponseContentType: mediaType };
    const command = method === 'HEAD' ? new HeadObjectCommand(file) : new GetObjectCommand(file);
    return getSignedUrl(client, command, { expiresIn: seconds });
  }
}

/** If two write at once, the second one gets a conflict. */
function isThere(error: unknown): boolean {
  if (!(error instanceof S3ServiceException)) return false;
  return error.$metadata.httpStatusCode === 412 || error.name === 'ConditionalRequestConflict';
}

function clientOptions(settings: S3Settings): S3ClientConfig {
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey, endpoint } = settings;
  return {
    region: settings.region,
    forcePathStyle: settings.path_style,
    // Servers other than AWS do not all know the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 3,
    requestHandler: { connectionTimeout: connectTimeoutMs, requestTimeout: requestTimeoutMs },
    ...defined({ endpoint }),
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : { credentials: { accessKeyId, secretAccessKey } }),
  };
}
