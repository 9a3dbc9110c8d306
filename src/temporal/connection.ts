import { defined } from '../base/defined.ts';
import { Client, Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import type { ConnectionOptions } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import type { Addresses } from '../config/addresses.ts';
import type { Environment } from '../config/environment.ts';
import { createPayloadCodec } from './payload-codec.ts';

/** How this process reaches Temporal. */
export interface TemporalSettings {
  readonly address: string;
  readonly namespace: string;
  readonly apiKey?: string;
  readonly tls?: Addresses['temporalTls'];
  /** 32 bytes; absent: payloads are readable in the UI. */
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

/** Connects when first used: a Temporal server that is away does not keep the API from starting. */
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
 * The SDK gives every call a deadline and the header of its namespace by way of AsyncLocalStorage. Before version 24,
 * Node runs hooks for it at every promise of the process, from its first use on, which GET pays for too. So the header
 * belongs to the connection, and an interceptor sets the deadlines.
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

/** A cancellation asks the upstream, which may be slow. */
export const updateDeadlineMs = 45_000;
export const callDeadlineMs = 5_000;

/** What the API calls, by the names of Temporal's methods. Others, such as lists, have no deadline. */
const deadlinesMs: Readonly<Record<string, number>> = {
  StartWorkflowExecution: callDeadlineMs,
  DescribeWorkflowExecution: callDeadlineMs,
  DescribeTaskQueue: callDeadlineMs,
  ResetActivity: callDeadlineMs,
  UpdateWorkflowExecution: updateDeadlineMs,
  PollWorkflowExecutionUpdate: updateDeadlineMs,
};

/** The SDK's retries. None begins on a closed connection: it would throw in a timer, and end the process. */
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
    /** Resolves when the due retries have begun, after at most six seconds. No further retry begins. */
    end(): Promise<void> {
      isEnding = true;
      if (due === 0) onNoneDue();
      return noneDue;
    },
  };
}

/** Gives every call its deadline, all its tries together. See `within` for one over several calls. */
function withDeadline(retry: Interceptor): Interceptor {
  return (options, nextCall) => {
    const ms = deadlinesMs[options.method_definition.path.split('/').at(-1) ?? ''];
    return retry(
      { ...options, ...defined({ deadline: options.deadline ?? (ms === undefined ? ms : Date.now() + ms) }) },
      nextCall,
    );
  };
}

export function connectWorker({ address, apiKey, tls }: TemporalSettings): Promise<NativeConnection> {
  return NativeConnection.connect({
    address,
    ...defined({ apiKey }),
    ...defined({ tls }),
  });
}
