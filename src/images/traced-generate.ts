import type { TaskSpans } from '../observability/task-spans.ts';
import { callChannel } from './call-channel.ts';
import { createGenerate, type CallForImage, type Generate, type GenerateDeps } from './generate.ts';

export function createTracedGenerate(
  deps: Omit<GenerateDeps, 'call'>,
  spans: TaskSpans | undefined,
): Generate {
  if (spans === undefined) return createGenerate({ ...deps, call: (_, call) => callChannel(call) });
  const generate = createGenerate({ ...deps, call: tracedCall(spans) });
  return (command) => {
    const { image, account, traceparent: parent } = command;
    const attributes = { 'mediary.task': image, 'mediary.account': account };
    return spans.run(image, { name: 'image', parent, attributes }, () => generate(command));
  };
}

function tracedCall(spans: TaskSpans): CallForImage {
  return (image, call) => {
    const { channel, candidate, request } = call;
    const { provider, models, base_url: baseUrl } = channel.config;
    const model = models[request.model]?.upstream ?? request.model;
    const attributes = {
      'gen_ai.operation.name': 'generate_content',
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': model,
      'gen_ai.output.type': 'image',
      'server.address': new URL(baseUrl).hostname,
      'mediary.task': image,
      'mediary.channel': candidate.channel,
      'mediary.credential': candidate.credential,
    };
    return spans.run(image, { name: `generate ${model}`, kind: 'client', attributes }, async (span) => {
      const answer = await callChannel(call);
      span?.set({ 'mediary.outcome': answer.kind });
      if (answer.kind === 'failed') span?.end({ failed: answer.error.code });
      return answer;
    });
  };
}
