import { defined } from '../base/defined.ts';
import type { GenerationRequest } from '../models/request.ts';
import type { HttpRequest, ProviderContext, SubmitContext, TaskProvider } from '../providers/provider.ts';
import { secretsOf } from '../providers/secrets-of.ts';
import { wrapped } from '../providers/wrapped.ts';
import { withProviders, type Channels } from '../routing/channels.ts';
import { acceptedOutcome, errorOutcome, foundOutcome, statusOutcome } from './describe-call.ts';
import type { RawCall, RawExchange } from './describe-call.ts';
import { jobOf, type ExchangeRecorder } from './exchange-recorder.ts';
import type { CallOutcome } from './recorded-call.ts';
import { textsOf } from './redact.ts';

export function recordedChannels(
  channels: Channels,
  recorder: ExchangeRecorder,
  now: () => number,
): Channels {
  return withProviders(channels, ({ config, provider }) => {
    const watch: Watch = { recorder, now, channel: config.id, name: config.provider };
    return wrapped(provider, { tasks: (part) => watchTasks(part, watch) });
  });
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
      const note = call.noteOf({ step: 'submit', ...submitFacts(context) });
      return noted(submit(request, call.context), acceptedOutcome, note);
    },
    status: (operation, context) => {
      const call = openCall(watch, context);
      const note = call.noteOf({ step: 'status', operation });
      return noted(status(operation, call.context), statusOutcome, note);
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
 * One list request covers many tasks, so it is recorded for each of them. A job that is missing from the list is not
 * recorded, because it is polled separately.
 */
function watchList<Request>(list: Method<Request, 'list'>, watch: Watch): Method<Request, 'list'> {
  return async (operations, context) => {
    const call = openCall(watch, context);
    const notes = operations.map((operation) => ({
      id: operation.id,
      note: call.noteOf({ step: 'list', operation }),
    }));
    try {
      const listed = await list(operations, call.context);
      for (const { id, note } of notes) {
        const status = listed.get(id);
        if (status !== undefined) note(statusOutcome(status));
      }
      return listed;
    } catch (error) {
      for (const { note } of notes) note(errorOutcome(error));
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
    const note = call.noteOf({ step: 'find', marker: lost.marker, sent: [lost.sentAfter, lost.sentBefore] });
    return noted(find(lost, call.context), foundOutcome, note);
  };
}

function watchCancel<Request>(cancel: Method<Request, 'cancel'>, watch: Watch): Method<Request, 'cancel'> {
  return (operation, context) => {
    const call = openCall(watch, context);
    const note = call.noteOf({ step: 'cancel', operation });
    return noted(cancel(operation, call.context), (kind) => ({ kind }), note);
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

type CallFacts = Pick<RawCall, 'step' | 'operation' | 'marker' | 'sent' | 'remainingSeconds' | 'callback'>;

/**
 * Call `noteOf` before the request completes, because the task may no longer own the job afterwards. The returned
 * function never throws, because `record` does not.
 */
function openCall<Context extends ProviderContext>(
  { recorder, now, channel, name }: Watch,
  context: Context,
  texts?: readonly string[],
) {
  const exchanges: RawExchange[] = [];
  const at = now();
  return {
    context: { ...context, request: tapped(context.request, exchanges, now) },
    noteOf(facts: CallFacts): (outcome: CallOutcome) => void {
      const { operation } = facts;
      const task = context.task ?? (operation && recorder.ownerOf(jobOf(channel, operation)));
      if (task === undefined) return () => undefined;
      const { credential, baseUrl, model } = context;
      const hidden = { secrets: secretsOf(context), ...defined({ texts }) };
      const known = { ...facts, at, channel, credential: credential.id, provider: name, model, baseUrl };
      return (outcome) => recorder.record(task, { ...known, ms: now() - at, exchanges, outcome, hidden });
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

function submitFacts({ marker, remainingSeconds, callbackUrl }: SubmitContext) {
  return { marker, remainingSeconds, callback: callbackUrl !== undefined };
}
