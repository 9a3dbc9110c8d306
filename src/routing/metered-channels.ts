import { defined } from '../base/defined.ts';
import type { UpstreamMeter, UpstreamStep } from '../observability/meter.ts';
import { UpstreamError } from '../providers/provider.ts';
import type { Provider, SynchronousImageProvider, TaskProvider } from '../providers/provider.ts';
import { wrapped } from '../providers/wrapped.ts';
import { withProviders, type Channels } from './channels.ts';

export function meteredChannels(channels: Channels, meter: UpstreamMeter): Channels {
  return withProviders(channels, ({ config, provider }) =>
    meterProvider(provider, (step) => meter.beginUpstream(config.id, step)),
  );
}

type Begin = (step: UpstreamStep) => ReturnType<UpstreamMeter['beginUpstream']>;

function meterProvider(provider: Provider, begin: Begin): Provider {
  return wrapped(provider, {
    tasks: (part) => meterTasks(part, begin),
    images: (part) => meterImages(part, begin),
  });
}

function meterTasks<Request>(provider: TaskProvider<Request>, begin: Begin): TaskProvider<Request> {
  const { submit, status, list, find, cancel } = provider;
  return {
    ...provider,
    submit: metered(submit, 'submit', begin),
    status: metered(status, 'status', begin),
    ...defined({
      list: list && metered(list, 'list', begin),
      find: find && metered(find, 'find', begin),
      cancel: cancel && metered(cancel, 'cancel', begin),
    }),
  };
}

function meterImages(provider: SynchronousImageProvider, begin: Begin): SynchronousImageProvider {
  const { resume } = provider;
  return {
    ...provider,
    generate: metered((request, context) => provider.generate(request, context), 'generate', begin),
    ...defined({ resume: resume && metered(resume, 'resume', begin) }),
  };
}

function metered<Args extends unknown[], Result>(
  call: (...args: Args) => Promise<Result>,
  step: UpstreamStep,
  begin: Begin,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    const end = begin(step);
    try {
      const result = await call(...args);
      end('ok');
      return result;
    } catch (error) {
      end(error instanceof UpstreamError ? error.outcome : 'adapter_failed');
      throw error;
    }
  };
}
