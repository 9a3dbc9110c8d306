import { Connection, isGrpcServiceError } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { defined } from '../base/defined.ts';
import { searchAttributeNames } from '../base/queues.ts';
import type { TemporalSettings } from './connection.ts';
import { requireSearchAttributes } from './search-attributes.ts';

export interface TemporalFacts {
  readonly version: string;
  readonly retentionHours?: number;
  /** Names the missing search attributes and explains how to register them. Undefined if none are missing. */
  readonly searchAttributes?: string;
}

const withinMs = 5_000;
const notFoundCode = 5;

/**
 * Asks the server and its namespace for everything that a worker needs. Changes nothing. Rejects within seconds if the
 * server does not respond.
 */
export async function inspectTemporal(
  { address, namespace, apiKey, tls }: Omit<TemporalSettings, 'payloadKey'>,
  names: readonly string[] = searchAttributeNames,
): Promise<TemporalFacts> {
  const connection = await Connection.connect({
    address,
    connectTimeout: withinMs,
    ...defined({ apiKey, tls }),
  });
  try {
    return await connection.withDeadline(Date.now() + withinMs, async () => {
      const { serverVersion: version } = await connection.workflowService.getSystemInfo({});
      const retentionHours = await retentionOf(connection, namespace);
      if (retentionHours === undefined) return { version };
      const searchAttributes = await requireSearchAttributes({ connection, namespace }, names).then(
        () => undefined,
        (error: Error) => error.message,
      );
      return { version, retentionHours, ...defined({ searchAttributes }) };
    });
  } finally {
    await connection.close();
  }
}

async function retentionOf(connection: Connection, namespace: string): Promise<number | undefined> {
  try {
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    return (optionalTsToMs(config?.workflowExecutionRetentionTtl) ?? 0) / 3_600_000;
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === notFoundCode) return undefined;
    throw error;
  }
}
