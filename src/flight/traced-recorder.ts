import { defined } from '../base/defined.ts';
import type { EndedCall, TaskSpans } from '../observability/task-spans.ts';
import type { RawCall } from './describe-call.ts';
import type { ExchangeRecorder } from './exchange-recorder.ts';

/** Also records adapter calls as spans. A request that covers many tasks becomes a span in each task's trace. */
export function tracedRecorder(
  recorder: ExchangeRecorder,
  spans: Pick<TaskSpans, 'note'> | undefined,
): ExchangeRecorder {
  if (spans === undefined) return recorder;
  return {
    ...recorder,
    record(task, call) {
      spans.note(task, describeSpan(task, call));
      recorder.record(task, call);
    },
  };
}

/**
 * Follows OpenTelemetry's conventions for generative AI. They define no job operations, so those have our own names.
 */
function describeSpan(task: string, call: RawCall): EndedCall {
  const { step, at, ms, channel, credential, provider, model, baseUrl, exchanges, outcome } = call;
  const last = exchanges.at(-1);
  const jobId = outcome.kind === 'accepted' ? outcome.operation['id'] : call.operation?.id;
  const tokens = outcome.kind === 'succeeded' ? outcome.facts.usage?.completionTokens : undefined;
  return {
    name: model === '' ? step : `${step} ${model}`,
    kind: 'client',
    startedAt: at,
    endedAt: at + ms,
    failed: failureOf(call),
    attributes: defined({
      'gen_ai.operation.name': step === 'submit' ? 'generate_content' : step,
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': model === '' ? undefined : model,
      'gen_ai.response.id': jobId,
      'gen_ai.usage.output_tokens': tokens,
      'http.request.method': last?.asked.method,
      'http.response.status_code': last?.response?.status,
      'server.address': new URL(baseUrl).hostname,
      'mediary.task': task,
      'mediary.channel': channel,
      'mediary.credential': credential,
      'mediary.outcome': outcome.kind,
    }),
  };
}

function failureOf({ outcome }: RawCall): string | undefined {
  if (outcome.kind === 'error' || outcome.kind === 'failed') return outcome.code;
  return outcome.kind === 'crashed' ? 'adapter_failed' : undefined;
}
