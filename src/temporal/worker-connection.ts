import { NativeConnection } from '@temporalio/worker';
import { defined } from '../base/defined.ts';
import type { TemporalSettings } from './connection.ts';

/** A separate file, so that the API does not load the worker SDK and its native code. */
export function connectWorker({ address, apiKey, tls }: TemporalSettings): Promise<NativeConnection> {
  return NativeConnection.connect({
    address,
    ...defined({ apiKey }),
    ...defined({ tls }),
  });
}
