import { defined } from '../base/defined.ts';
import { Client, Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import type { ConnectionOptions } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { Addresses } from '../config/addresses.ts';
import type { Environment } from '../config/environment.ts';
import { createPayloadCodec } from './payload-codec.ts';

export interface TemporalSettings {
  readonly address: string;
  readonly namespace: string;
  readonly apiKey?: string;
  readonly tls?: Addresses['temporalTls'];
  /** 32 bytes. If undefined, payloads are not encrypted, so the Temporal UI shows them. */
  readonly payloadKey?: Buffer;
}

export function temporalSettings(
  environment: Environment,
  { temporalAddress: address, temporalTls: tls }: Pick<Addresses, 'temporalAddress' | 'temporalTls'>,
  payloadKey: Buffer | undefined,
): TemporalSettings {
  const { TEMPORAL_API_KEY: apiKey, TEMPORAL_NAMESPACE: namespace } = environment;
  return { address, namespace, ...defined({ apiKey, tls, payloadKey }) };
}

export function dataConverter({ payloadKey }: TemporalSettings): DataConverter {
  return payloadKey === undefined ? {} : { payloadCodecs: [createPayloadCodec(payloadKey)] };
}

/** Connects on first use, so that the API can start while Temporal is unavailable. */
export function createTemporalClient(settings: TemporalSettings): Client {
  const { address, namespace, apiKey, tls } = settings;
  const retries = createRetries();
  const connection = PlainConnection.lazy({
    address,
    interceptors: [withDeadline(retries.interceptor)],
    metadata: { [namespaceHeader]: namespace },
    ...defined({ apiKey }),
    ...defined({ tls }),
  });
  const close = connection.close.bind(connection);
  connection.close = () => retries.end().then(close);
  return new Client({ connection, namespace, dataConverter: dataConverter(settings) });
}

const namespaceHeader = 'temporal-namespace';

/**
 * The SDK passes every call's deadline and namespace header through AsyncLocalStorage. Before Node 24, a single use of
 * it makes Node run hooks for every promise in the process, which slows down even GETs. This class sets the header on
 * the connection instead, and an interceptor sets the deadlines.
 */
class PlainConnection extends Connection {
  override withMetadata<Result>(
    metadata: ConnectionOptions['metadata'] & object,
    call: () => Promise<Result>,
  ): Promise<Result> {
    const isKnown = Object.entries(metadata).every(([name, value]) => this.options.metadata[name] === value);
    return isKnown ? call() : super.withMetadata(metadata, call);
  }
}

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

/** This is long, because a cancellation waits for the upstream, which may be slow. */
export const updateDeadlineMs = 45_000;
export const callDeadlineMs = 5_000;
/**
 * Longer than a machine is usually suspended, because that time counts towards the deadline. Callers that cannot wait
 * this long use `within`.
 */
export const readDeadlineMs = 20_000;

/** Deadlines by the name of the Temporal method. Other calls, such as lists, have none. */
const deadlinesMs: Readonly<Record<string, number>> = {
  StartWorkflowExecution: callDeadlineMs,
  DescribeWorkflowExecution: readDeadlineMs,
  DescribeTaskQueue: readDeadlineMs,
  ResetActivity: readDeadlineMs,
  CreateSchedule: readDeadlineMs,
  UpdateWorkflowExecution: updateDeadlineMs,
  PollWorkflowExecutionUpdate: updateDeadlineMs,
};

/**
 * A retry on a closed connection would throw in a timer and end the process. Retries therefore stop when the connection
 * closes.
 */
function createRetries() {
  const options = defaultGrpcRetryOptions();
  let due = 0;
  let isEnding = false;
  let onNoneDue = (): void => undefined;
  const noneDue = new Promise<void>((resolve) => {
    onNoneDue = resolve;
  });
  const retry = makeGrpcRetryInterceptor({
    ...options,
    retryableDecider: (attempt, status) => !isEnding && options.retryableDecider(attempt, status),
    delayFunction(attempt, status) {
      due += 1;
      return options.delayFunction(attempt, status);
    },
  });
  const interceptor: Interceptor = (call, nextCall) => {
    let isRetry = false;
    return retry(call, (again) => {
      if (isRetry) {
        due -= 1;
        if (isEnding && due === 0) onNoneDue();
      }
      isRetry = true;
      return nextCall(again);
    });
  };

  return {
    interceptor,
    /** Resolves within six seconds, when all retries that were already due have started. No others will start. */
    end(): Promise<void> {
      isEnding = true;
      if (due === 0) onNoneDue();
      return noneDue;
    },
  };
}

/** One deadline covers all tries of a call. Use `within` for a deadline that covers several calls. */
function withDeadline(retry: Interceptor): Interceptor {
  return (options, nextCall) => {
    const ms = deadlinesMs[options.method_definition.path.split('/').at(-1) ?? ''];
    return retry(
      { ...options, ...defined({ deadline: options.deadline ?? (ms === undefined ? ms : Date.now() + ms) }) },
      nextCall,
    );
  };
}
