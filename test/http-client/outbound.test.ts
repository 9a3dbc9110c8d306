import { expect, it, onTestFinished } from 'vitest';
import { openOutbound, type Outbound } from '../../src/http-client/index.ts';
import type { Lookups } from '../../src/http-client/outbound.ts';
import { listen } from './support.ts';

/** Each kind of outbound request is sent to the private networks that only the other kinds may reach. */

const networkOf = {
  media: '127.0.0.2',
  callbacks: '127.0.0.3',
  'calls of channel a': '127.0.0.4',
  'links of channel a': '127.0.0.5',
  'calls of channel b': '127.0.0.6',
  'links of channel b': '127.0.0.7',
  nobody: '127.0.0.8',
};
type Network = keyof typeof networkOf;

const everything = Object.keys(networkOf) as readonly Network[];
const cidr = (network: Network) => `${networkOf[network]}/32`;

async function open(redirect?: Network, lookups?: Lookups) {
  const server = await listen((request, response) => {
    const location = `http://${networkOf[redirect ?? 'nobody']}:${server.port}/secret`;
    response.writeHead(request.url === '/redirect' ? 302 : 200, { location }).end('secret');
  }, '0.0.0.0');
  const outbound = openOutbound({ media: [cidr('media')], callbacks: [cidr('callbacks')] }, lookups);
  onTestFinished(() => outbound.close());
  const channel = (id: 'a' | 'b') => ({
    base_url: `http://${networkOf[`calls of channel ${id}`]}:${server.port}/v1`,
    private_networks: [cidr(`calls of channel ${id}`)],
    private_link_networks: [cidr(`links of channel ${id}`)],
  });
  const urlOf = (network: Network, path = '/') => `http://${networkOf[network]}:${server.port}${path}`;
  return { server, outbound, a: channel('a'), urlOf };
}

type World = Awaited<ReturnType<typeof open>>;

const soon = () => AbortSignal.timeout(60_000);

interface Way {
  readonly way: Exclude<keyof Outbound, 'close'>;
  readonly as: string;
  readonly send: (url: string, world: World) => Promise<unknown>;
  readonly reaches: readonly Network[];
  readonly check?: (url: string, world: World) => string | undefined;
  /** Who has chosen the host's name. */
  readonly namedBy: keyof Lookups;
}

const fetchOf = (url: string) => ({ url, maxBytes: 1000, timeoutMs: 30_000 });
const delivery = (url: string) => ({ url, headers: {}, body: '{}', timeoutMs: 30_000 });

const ways: readonly Way[] = [
  {
    way: 'requestOf',
    as: 'a call of an adapter',
    send: (url, { outbound, a }) => outbound.requestOf(a)({ method: 'GET', url, signal: soon() }),
    reaches: ['calls of channel a', 'links of channel a'],
    namedBy: 'others',
  },
  {
    way: 'linksOf',
    as: 'a result link',
    send: (url, { outbound, a }) => outbound.linksOf(a).openMedia(fetchOf(url)),
    reaches: ['links of channel a'],
    namedBy: 'others',
    check: (url, { outbound, a }) => outbound.linksOf(a).checkAddress(url),
  },
  {
    way: 'linksOf',
    as: 'a result link of a channel that is gone',
    send: (url, { outbound }) => outbound.linksOf(undefined).openMedia(fetchOf(url)),
    reaches: [],
    namedBy: 'others',
    check: (url, { outbound }) => outbound.linksOf(undefined).checkAddress(url),
  },
  {
    way: 'media',
    as: 'input media',
    send: (url, { outbound }) => outbound.media.openMedia(fetchOf(url)),
    reaches: ['media'],
    namedBy: 'others',
    check: (url, { outbound }) => outbound.media.checkAddress(url),
  },
  {
    way: 'callbacks',
    as: 'a callback',
    send: (url, { outbound }) => outbound.callbacks.deliver(delivery(url)),
    reaches: ['callbacks'],
    namedBy: 'others',
    check: (url, { outbound }) => outbound.callbacks.checkAddress(url),
  },
  {
    way: 'notices',
    as: 'a notice to operators',
    send: (url, { outbound }) => outbound.notices.deliver(delivery(url)),
    reaches: everything,
    namedBy: 'operators',
  },
];

it('every kind of outbound request is tried', async () => {
  const { outbound } = await open();
  const all = Object.keys(outbound).filter((name) => name !== 'close');
  expect(new Set(ways.map(({ way }) => way))).toEqual(new Set(all));
});

it.each(ways)('$as reaches only its own private network', async ({ send, reaches, check }) => {
  const world = await open();
  const reached: Network[] = [];
  for (const network of everything) {
    const url = world.urlOf(network);
    const isOpen = await send(url, world).then(
      () => true,
      () => false,
    );
    if (isOpen) reached.push(network);
    if (check !== undefined) expect([network, check(url, world) === undefined]).toEqual([network, isOpen]);
  }
  expect(reached).toEqual(reaches);
  expect(world.server.requests).toBe(reaches.length);
});

const followed = ways.filter(({ as }) => ['a result link', 'input media'].includes(as));
const redirects = followed.flatMap((way) => everything.map((to) => ({ ...way, to })));

it.each(redirects)(
  '$as that redirects to the network of $to is followed only into its own network',
  async ({ send, reaches, to }) => {
    const world = await open(to);
    const [own] = reaches;
    if (own === undefined) throw new Error('it reaches nothing');
    const isOpen = reaches.includes(to);
    const sent = send(world.urlOf(own, '/redirect'), world);
    if (isOpen) await expect(sent).resolves.toBeDefined();
    else await expect(sent).rejects.toMatchObject({ code: 'address_refused' });
    expect(world.server.requests).toBe(isOpen ? 2 : 1);
  },
);

it('a call reaches the private network of its channel only at the origin of base_url', async () => {
  const { outbound, a, urlOf } = await open();
  const elsewhere = await listen(
    (_request, response) => response.end('secret'),
    networkOf['calls of channel a'],
  );
  const request = outbound.requestOf(a);
  const sent = request({ method: 'POST', url: elsewhere.origin, json: {}, signal: soon() });
  await expect(sent).rejects.toMatchObject({ outcome: 'not_sent', code: 'address_refused' });
  expect(elsewhere.connections).toBe(0);
  await expect(
    request({ method: 'GET', url: urlOf('calls of channel a'), signal: soon() }),
  ).resolves.toBeDefined();
});

it.each(ways)('$as looks up its host as a name that $namedBy have chosen', async ({ send, namedBy }) => {
  const asked: (keyof Lookups)[] = [];
  const noting = (who: keyof Lookups) => async () => {
    asked.push(who);
    return [];
  };
  const world = await open(undefined, { operators: noting('operators'), others: () => noting('others') });
  await expect(send(`http://name.example.com:${world.server.port}/`, world)).rejects.toThrow();
  expect(asked).toEqual([namedBy]);
});

it('a call at the origin of base_url looks up a name that operators have chosen', async () => {
  const asked: string[] = [];
  const lookups: Lookups = {
    operators: async (name) => [`127.0.0.${asked.push(name)}`],
    others: () => () => Promise.reject(new Error('not configured by an operator')),
  };
  const { outbound, server } = await open(undefined, lookups);
  const base_url = `http://vendor.example.com:${server.port}`;
  const channel = { base_url, private_networks: ['127.0.0.0/8'], private_link_networks: [] };
  const call = { method: 'GET', url: `${base_url}/v1`, signal: soon() } as const;
  await expect(outbound.requestOf(channel)(call)).resolves.toBeDefined();
  expect(asked).toEqual(['vendor.example.com']);
});
