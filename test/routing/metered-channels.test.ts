import { expect, it } from 'vitest';
import type { UpstreamResult, UpstreamStep } from '../../src/observability/meter.ts';
import { UpstreamError, type Provider } from '../../src/providers/provider.ts';
import { meteredChannels } from '../../src/routing/metered-channels.ts';
import type { OpenChannel } from '../../src/routing/channels.ts';

type Seen = [channel: string, step: UpstreamStep, result?: UpstreamResult];

function meter(provider: unknown) {
  const seen: Seen[] = [];
  const opened = { config: { id: 'one' }, provider: provider as Provider } as OpenChannel;
  const channels = meteredChannels((id) => (id === 'gone' ? undefined : opened), {
    beginUpstream(channel, step) {
      const call: Seen = [channel, step];
      seen.push(call);
      return (result) => void (call[2] = result);
    },
  });
  return { channels, seen };
}

const answers = async () => 'answer';
const tasks = {
  submit: answers,
  status: answers,
  list: answers,
  find: answers,
  cancel: answers,
};

it('counts each method that asks an upstream by its own step', async () => {
  const { channels, seen } = meter({
    video: tasks,
    imageTask: tasks,
    image: { generate: answers, resume: answers },
  });
  const { video, image } = channels('one')?.provider ?? {};
  for (const name of ['submit', 'status', 'list', 'find', 'cancel'] as const)
    expect(await video?.[name]?.(undefined as never, undefined as never)).toBe('answer');
  await image?.generate(undefined as never, undefined as never);
  await image?.resume?.(undefined as never, undefined as never);
  const steps = ['submit', 'status', 'list', 'find', 'cancel', 'generate', 'resume'];
  expect(seen).toEqual(steps.map((step) => ['one', step, 'ok']));
});

it('counts a failure by its kind, and rethrows it', async () => {
  const failures = [new UpstreamError('throttled', 'later', { code: 'busy' }), new TypeError('broken')];
  const { channels, seen } = meter({ video: { submit: () => Promise.reject(failures.shift()) } });
  const submit = () => channels('one')?.provider.video?.submit(undefined as never, undefined as never);
  await expect(submit()).rejects.toThrow('throttled');
  await expect(submit()).rejects.toThrow('broken');
  expect(seen.map(([, , result]) => result)).toEqual(['throttled', 'adapter_failed']);
});

it('adds no methods to a provider, and finds no removed channel', () => {
  const { channels } = meter({ video: { submit: answers, status: answers } });
  expect(Object.keys(channels('one')?.provider.video ?? {}).toSorted()).toEqual(['status', 'submit']);
  expect(Object.keys(channels('one')?.provider ?? {})).toEqual(['video']);
  expect(channels('gone')).toBeUndefined();
});
