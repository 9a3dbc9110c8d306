import { defined } from '../base/defined.ts';
import type { GenerationRequest } from '../models/request.ts';
import type {
  HttpRequest,
  Operation,
  ProviderContext,
  SubmitContext,
  TaskProvider,
} from '../providers/provider.ts';
import { secretsOf } from '../providers/secrets-of.ts';
import { wrapped } from '../providers/wrapped.ts';
import type { Channels } from '../routing/channels.ts';
import { acceptedOutcome, errorOutcome, foundOutcome, statusOutcome } from './describe-call.ts';
import type { RawCall, RawExchange } from './describe-call.ts';
import { jobOf } from './exchange-recorder.ts';
import type { ExchangeRecorder } from './exchange-recorder.ts';
import type { CallOutcome } from './recorded-call.ts';
import { textsOf } from './redact.ts';

export function recordedChannels(
  channels: Channels,
  recorder: ExchangeRecorder,
  now: () => number,
): Channels {
  return (id) => {
    const channel = channels(id);
    if (channel === undefined) return undefined;
    const watch: Watch = { recorder, now, channel: id, name: channel.config.provider };
    return { ...channel, provider: wrapped(channel.provider, { tasks: (part) => watchTasks(part, watch) }) };
  };
}

interface Watch {
  readonly recorder: ExchangeRecorder;
  readonly now: () => number;
  readonly channel: string;
  readonly name: string;
}

function watchTasks<Request extends GenerationRequest>(
  provider: TaskProvider<Request>,
  watch: Watch,
): TaskProvider<Request> {
  const { submit, status, list, find, cancel } = provider;
  return {
    ...provider,
    submit: (request, context) => {
      const call = openCall(watch, context, textsOf(request));
      const facts = { step: 'submit', ...submitFacts(context) } as const;
      return noted(submit(request, call.context), acceptedOutcome, (outcome) =>
        call.note(context.task, facts, outcome),
      );
    },
    status: (operation, context) => {
      const call = openCall(watch, context);
      const task = ownerOf(operation, context, watch);
      return noted(status(operation, call.context), statusOutcome, (outcome) =>
        call.note(task, { step: 'status', operation }, outcome),
      );
    },
    ...defined({
      list: list && watchList(list, watch),
      find: find && watchFind(find, watch),
      cancel: cancel && watchCancel(cancel, watch),
    }),
  };
}

type Method<Request, Name extends keyof TaskProvider<Request>> = NonNullable<TaskProvider<Request>[Name]>;

/**
 * Records one list request for many tasks, each with its own job. A job that is missing from the list is not recorded,
 * because it is polled separately.
 */
function watchList<Request>(list: Method<Request, 'list'>, watch: Watch): Method<Request, 'list'> {
  return async (operations, context) => {
    const call = openCall(watch, context);
    const owners = operations.map((operation) => ({ operation, task: ownerOf(operation, context, watch) }));
    try {
      const listed = await list(operations, call.context);
      for (const { operation, task } of owners) {
        const status = listed.get(operation.id);
        if (status !== undefined) call.note(task, { step: 'list', operation }, statusOutcome(status));
      }
      return listed;
    } catch (error) {
      for (const { operation, task } of owners)
        call.note(task, { step: 'list', operation }, errorOutcome(error));
      throw error;
    }
  };
}

function watchFind<Request extends GenerationRequest>(
  find: Method<Request, 'find'>,
  watch: Watch,
): Method<Request, 'find'> {
  return (lost, context) => {
    const call = openCall(watch, context, textsOf(lost.request));
    const facts = { step: 'find', marker: lost.marker, sent: [lost.sentAfter, lost.sentBefore] } as const;
    return noted(find(lost, call.context), foundOutcome, (outcome) =>
      call.note(context.task, facts, outcome),
    );
  };
}

function watchCancel<Request>(cancel: Method<Request, 'cancel'>, watch: Watch): Method<Request, 'cancel'> {
  return (operation, context) => {
    const call = openCall(watch, context);
    const task = ownerOf(operation, context, watch);
    return noted(
      cancel(operation, call.context),
      (kind) => ({ kind }),
      (outcome) => call.note(task, { step: 'cancel', operation }, outcome),
    );
  };
}

async function noted<Result>(
  work: Promise<Result>,
  outcomeOf: (result: Result) => CallOutcome,
  note: (outcome: CallOutcome) => void,
): Promise<Result> {
  try {
    const result = await work;
    note(outcomeOf(result));
    return result;
  } catch (error) {
    note(errorOutcome(error));
    throw error;
  }
}

type CallFacts = Omit<
  RawCall,
  | 'at'
  | 'ms'
  | 'channel'
  | 'credential'
  | 'provider'
  | 'model'
  | 'baseUrl'
  | 'exchanges'
  | 'outcome'
  | 'hidden'
>;

/** Starts recording a call. The returned `note` never throws, because `record` does not. */
function openCall<Context extends ProviderContext>(
  { recorder, now, channel, name }: Watch,
  context: Context,
  texts?: readonly string[],
) {
  const exchanges: RawExchange[] = [];
  const at = now();
  return {
    context: { ...context, request: tapped(context.request, exchanges, now) },
    note(task: string | undefined, facts: CallFacts, outcome: CallOutcome): void {
      if (task === undefined) return;
      const { credential, baseUrl, model } = context;
      recorder.record(task, {
        ...facts,
        at,
        ms: now() - at,
        channel,
        credential: credential.id,
        provider: name,
        model,
        baseUrl,
        exchanges,
        outcome,
        hidden: { secrets: secretsOf(context), ...defined({ texts }) },
      });
    },
  };
}

function tapped(request: HttpRequest, exchanges: RawExchange[], now: () => number): HttpRequest {
  return async (asked) => {
    const at = now();
    try {
      const response = await request(asked);
      exchanges.push({ asked, at, ms: now() - at, response });
      return response;
    } catch (error) {
      exchanges.push({ asked, at, ms: now() - at, error });
      throw error;
    }
  };
}

function ownerOf(operation: Operation, { task }: ProviderContext, watch: Watch): string | undefined {
  return task ?? watch.recorder.ownerOf(jobOf(watch.channel, operation));
}

function submitFacts({ marker, remainingSeconds, callbackUrl }: SubmitContext) {
  return { marker, remainingSeconds, callback: callbackUrl !== undefined };
}
