import { expect, it } from 'vitest';
import { createHostPlaces } from '../../src/capacity/host-places.ts';
import { createPromptHosts, type PromptCall, type PromptHosts } from '../../src/capacity/prompt-hosts.ts';

const clock = { now: 0 };

function hostsOf(change: { callsMax?: number; requestsPerHostMax?: number } = {}): PromptHosts {
  clock.now = 0;
  const now = () => clock.now;
  const places = createHostPlaces({
    requestsPerHostMax: change.requestsPerHostMax ?? 10,
    requestsPerAccountMax: 3,
    waitMs: 60_000,
    now,
    random: Math.random,
  });
  return createPromptHosts({ places, callsMax: change.callsMax ?? 100, avoidMs: 60_000, now });
}

function enter(hosts: PromptHosts, host: string, account = 'one'): PromptCall {
  const call = hosts.enter(host, account);
  if (call === undefined) throw new Error('a call was expected');
  return call;
}

it('an unknown host gets one call at a time, and several once it has responded', () => {
  const hosts = hostsOf();
  const first = enter(hosts, 'a');
  expect(hosts.enter('a', 'one')).toBeUndefined();
  first.leave(true);
  enter(hosts, 'a');
  enter(hosts, 'a');
});

it('a slow host is skipped for a minute, and then gets one call', () => {
  const hosts = hostsOf();
  enter(hosts, 'a').leave(false);
  clock.now = 59_999;
  expect(hosts.enter('a', 'one')).toBeUndefined();
  enter(hosts, 'b');
  clock.now = 60_000;
  enter(hosts, 'a');
  expect(hosts.enter('a', 'one')).toBeUndefined();
});

it('a host that becomes slow is skipped, although calls to it are still waiting', () => {
  const hosts = hostsOf();
  enter(hosts, 'a').leave(true);
  const [first, second] = [enter(hosts, 'a'), enter(hosts, 'a')];
  first.leave(false);
  second.leave(true);
  expect(hosts.enter('a', 'one')).toBeUndefined();
});

it('makes no more calls than a process can spare, whatever their hosts', () => {
  const hosts = hostsOf({ callsMax: 2 });
  const first = enter(hosts, 'a');
  enter(hosts, 'b');
  expect(hosts.enter('c', 'two')).toBeUndefined();
  first.leave(false);
  enter(hosts, 'c', 'two');
});

it('an account with too many calls in flight gets no more, and others do', () => {
  const hosts = hostsOf();
  for (const host of ['a', 'b', 'c']) enter(hosts, host);
  expect(hosts.enter('d', 'one')).toBeUndefined();
  enter(hosts, 'd', 'two');
});

it('does not wait for a busy host', () => {
  const hosts = hostsOf({ requestsPerHostMax: 1 });
  enter(hosts, 'a').leave(true);
  const call = enter(hosts, 'a');
  expect(hosts.enter('a', 'two')).toBeUndefined();
  call.leave(true);
  enter(hosts, 'a', 'two');
});

it('is idle once every call has ended, or at once if there is none', async () => {
  const hosts = hostsOf();
  await hosts.idle();
  const calls = [enter(hosts, 'a'), enter(hosts, 'b')];
  let isIdle = false;
  const idle = hosts.idle().then(() => (isIdle = true));
  calls[0]?.leave(false);
  await new Promise((resolve) => setImmediate(resolve));
  expect(isIdle).toBe(false);
  calls[1]?.leave(true);
  await idle;
  expect(isIdle).toBe(true);
});
