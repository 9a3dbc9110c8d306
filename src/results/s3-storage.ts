import { defined } from '../base/defined.ts';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetBucketLifecycleConfigurationCommand,
  GetObjectCommand,
  HeadObjectCommand,
  NotFound,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import type { LifecycleRule, PutObjectCommandInput, S3ClientConfig } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { GatewayConfig } from '../config/gateway-file.ts';
import { NoRoomError } from '../errors/not-stored.ts';
import type { DirectAsk, ResultStorage } from './storage.ts';

export type S3Settings = NonNullable<GatewayConfig['results']['s3']>;

interface S3Options {
  /**
   * Defaults to true. If false, a write leaves an existing file unchanged, even if another write completes that file at
   * the same time.
   */
  readonly replaces?: boolean;
}

/** Files of unknown length are uploaded in parts of this size, which are buffered in memory. */
const partBytes = 8 * 1024 * 1024;
const partsAtOnce = 2;
const connectTimeoutMs = 5_000;
const socketTimeoutMs = 30_000;
/**
 * A caller that reads a file slowly keeps its connection to the bucket. Only the connections of callers are limited, so
 * that everything else never waits for one.
 */
const agent = { keepAlive: true, maxSockets: Infinity } as const;

/**
 * Works with any S3-compatible server. The operator chose the server's URL, so the guarded HTTP client is not needed.
 * With `links: gateway`, callers never access the bucket, which they may be unable to reach. With `links: presigned`,
 * they are redirected to the bucket, which stays private.
 */
export function createS3Storage(settings: S3Settings, { replaces = true }: S3Options = {}): ResultStorage {
  const client = new S3Client(clientOptions(settings));
  const locate = (key: string) => ({ Bucket: settings.bucket, Key: `${settings.prefix}${key}` });
  const fileOf = (...[key, body, { mediaType }]: Parameters<ResultStorage['write']>) => ({
    ...locate(key),
    Body: Readable.from(body, { objectMode: false }),
    ContentType: mediaType,
    ...(replaces ? {} : { IfNoneMatch: '*' }),
  });
  return {
    async write(...file) {
      try {
        await send(client, fileOf(...file), file[2].signal);
      } catch (error) {
        if (replaces || !isThere(error)) throw error;
      }
    },

    async stat(key, signal) {
      try {
        const { ContentLength: bytes = 0, ETag: etag = '' } = await client.send(
          new HeadObjectCommand(locate(key)),
          abortedBy(signal),
        );
        return { bytes, etag };
      } catch (error) {
        if (error instanceof NotFound) return undefined;
        throw error;
      }
    },

    async read(key, { start, end }, signal) {
      const { Body: body } = await client.send(
        new GetObjectCommand({ ...locate(key), Range: `bytes=${start}-${end}` }),
        abortedBy(signal),
      );
      if (!(body instanceof Readable)) throw new Error('the storage returned no body');
      return body;
    },

    async remove(key) {
      await client.send(new DeleteObjectCommand(locate(key)));
    },

    // The only way to find out whether a bucket is full or unreachable is to write to it.
    refusal: () => Promise.resolve(undefined),
    problem: () => problemOf(client, settings),

    close: () => client.destroy(),

    ...(settings.links === 'gateway' ? {} : { directAddress }),
  };

  function directAddress(key: string, { method, seconds, mediaType }: DirectAsk): Promise<string> {
    const file = { ...locate(key), ResponseContentType: mediaType };
    const command = method === 'HEAD' ? new HeadObjectCommand(file) : new GetObjectCommand(file);
    return getSignedUrl(client, command, { expiresIn: seconds });
  }
}

async function send(client: S3Client, params: PutObjectCommandInput, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const upload = new Upload({ client, params, partSize: partBytes, queueSize: partsAtOnce });
  signal?.addEventListener('abort', () => void upload.abort(), { once: true });
  try {
    await upload.done();
  } catch (error) {
    throw isFull(error)
      ? new NoRoomError(`the bucket ${params.Bucket} is full: ${error.name}`, error)
      : error;
  }
}

function abortedBy(abortSignal: AbortSignal | undefined) {
  return defined({ abortSignal });
}

async function problemOf(client: S3Client, { bucket, prefix }: S3Settings): Promise<string | undefined> {
  const rules = await readRules(client, bucket);
  if (rules === undefined || rules.some((rule) => endsUploads(rule, prefix))) return undefined;
  return `The bucket ${bucket} has no lifecycle rule that aborts unfinished multipart uploads below "${prefix}", so the parts of a process that dies during a copy are kept and billed. Add a rule with AbortIncompleteMultipartUpload after one day.`;
}

/**
 * Returns undefined if the rules cannot be read, because some keys lack the permission and some servers lack the
 * feature.
 */
async function readRules(client: S3Client, bucket: string): Promise<readonly LifecycleRule[] | undefined> {
  try {
    return (await client.send(new GetBucketLifecycleConfigurationCommand({ Bucket: bucket }))).Rules ?? [];
  } catch (error) {
    if (!(error instanceof S3ServiceException)) throw error;
    return error.name === 'NoSuchLifecycleConfiguration' ? [] : undefined;
  }
}

/** A rule with conditions on tags or sizes does not cover our uploads. */
function endsUploads(rule: LifecycleRule, prefix: string): boolean {
  const { Status: status, Filter: filter, AbortIncompleteMultipartUpload: abort } = rule;
  const isPlain = filter === undefined || Object.keys(filter).every((name) => name === 'Prefix');
  return status === 'Enabled' && abort !== undefined && isPlain && prefix.startsWith(filter?.Prefix ?? '');
}

/**
 * AWS is never full. MinIO returns XMinioStorageFull or XMinioAdminBucketQuotaExceeded, Ceph and Garage return
 * QuotaExceeded, and others use status 507.
 */
function isFull(error: unknown): error is S3ServiceException {
  if (!(error instanceof S3ServiceException)) return false;
  return (
    error.$metadata.httpStatusCode === 507 || /StorageFull|QuotaExceeded|InsufficientStorage/.test(error.name)
  );
}

/** If two processes write a file at the same time, the second one gets a conflict instead of a failed precondition. */
function isThere(error: unknown): boolean {
  if (!(error instanceof S3ServiceException)) return false;
  return error.$metadata.httpStatusCode === 412 || error.name === 'ConditionalRequestConflict';
}

function clientOptions(settings: S3Settings): S3ClientConfig {
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey, endpoint } = settings;
  return {
    region: settings.region,
    forcePathStyle: settings.path_style,
    // Some S3-compatible servers do not support the newer checksums, so send them only if required.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: connectTimeoutMs,
      socketTimeout: socketTimeoutMs,
      httpAgent: agent,
      httpsAgent: agent,
    },
    ...defined({ endpoint }),
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : { credentials: { accessKeyId, secretAccessKey } }),
  };
}
