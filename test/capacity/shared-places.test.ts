import { once } from 'node:events';
import { createServer, get, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createPlaces, sharedPlaces, type PlacesOptions, type SharedPlaces } from '../../src/base/places.ts';
import { createHostPlaces } from '../../src/capacity/host-places.ts';
import { createImageGate } from '../../src/capacity/image-gate.ts';
import { createStayPlaces } from '../../src/capacity/stay-places.ts';
import { createPromptHosts } from '../../src/capacity/prompt-hosts.ts';
import { reportsMax } from '../../src/http/app.ts';
import { createBodyBudgets, type BodyBudget } from '../../src/http/bodies/body-budget.ts';
import { limitConnections, recognise } from '../../src/http/connections.ts';
import { createIdentify } from '../../src/http/identify.ts';
import { partialReadsMax } from '../../src/http/images/image-stream.ts';
import { createEnterKey } from '../../src/http/rate-limit.ts';
import { fetchesMax } from '../../src/http/routes/create-file.ts';
import { listsReadMax } from '../../src/http/read-in-turn.ts';
import { createTaskWatcher } from '../../src/http/task-watcher.ts';
import { createFetchedImages } from '../../src/images/fetched-images.ts';
import { createUnstoredImages } from '../../src/images/unstored-images.ts';
import { createMediaProbe } from '../../src/media/media-probe.ts';
import { createUploads } from '../../src/media/uploads.ts';
import { createLogger } from '../../src/observability/log.ts';
import { createResultCopier } from '../../src/results/result-copier.ts';
import { png } from '../images/support.ts';
import { testRequest } from '../routing/support.ts';
import { firstRecord } from '../support/task-records.ts';

/**
 * One holder takes as much of each shared resource as it can and does not give it back. Another holder must still get
 * its share.
 */

const attacker = 'attacker';
const victim = 'victim';
const log = createLogger({ level: 'silent', format: 'json' });
const hangs = () => new Promise<never>(() => undefined);
const many = Array.from({ length: 100 }, (_, n) => n);

function tried(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}

function createDone() {
  let resolve: (isDone: boolean) => void = () => undefined;
  const reached = new Promise<boolean>((done) => (resolve = done));
  return { reached, resolve: (isDone: boolean) => resolve(isDone) };
}

async function attackPlaces(options: PlacesOptions): Promise<boolean> {
  const places = createPlaces(options);
  for (const _ of many) void places.run(attacker, hangs);
  return places.run(victim, async () => true);
}

async function listen(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((request, response) => {
    const { holder } = request.headers;
    if (typeof holder === 'string') recognise(request, holder);
    if (holder === victim || request.url === '/end') response.end('done');
  });
  limitConnections(server, { connectionsMax: 16, answerBytesPerSecondMin: 0 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, port: (server.address() as AddressInfo).port };
}

async function attackConnections(head: string): Promise<boolean> {
  const { port } = await listen();
  const sockets: Socket[] = many.map(() => connect({ port, host: '127.0.0.1' }).on('error', () => undefined));
  for (const socket of sockets) socket.write(`GET / HTTP/1.1\r\nhost: x\r\n${head}\r\n`);
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  // On Linux, this IP address needs no configuration.
  const from = process.platform === 'linux' ? { localAddress: '127.0.0.2' } : {};
  const asked = get({ port, host: '127.0.0.1', headers: { holder: victim }, agent: false, ...from });
  asked.on('error', () => undefined);
  const [response] = await once(asked, 'response');
  for (const socket of sockets) socket.destroy();
  return response.statusCode === 200;
}

function attackBodies(budget: BodyBudget): boolean {
  const reserve = (account: string) => tried(() => budget.open(account).reserve(1));
  const got = many.filter(() => reserve(attacker)).length;
  return got > 0 && got < many.length && reserve(victim);
}

const budgets = () => createBodyBudgets({ bodiesBytesMax: 100, uploadsBytesMax: 50 });

function hostPlaces() {
  return createHostPlaces({
    requestsPerHostMax: 16,
    requestsPerAccountMax: 50,
    waitMs: 60_000,
    now: Date.now,
    random: () => 0.5,
  });
}

const operator = { name: victim, roles: ['read'] };

const attacks: Readonly<Record<SharedPlaces, () => unknown>> = {
  'unauthenticated connections': () => attackConnections(''),
  'connections of callers': () => attackConnections(`holder: ${attacker}\r\n`),
  async 'credentials looked up'() {
    const identify = createIdentify({
      operatorAuth: {
        authenticate: (shown: string) => (shown === victim ? Promise.resolve(operator) : hangs()),
      },
      addresses: { take: () => undefined, takeForWrong: () => undefined },
      trustedProxies: [],
      auditLog: {},
    } as never);
    const route = { authentication: 'operator', access: 'read' } as never;
    const as = (who: string) =>
      identify(route, { req: { headers: { authorization: who } }, state: { address: who } } as never);
    for (const _ of many) void as(attacker);
    return (await as(victim)).kind === 'admin';
  },
  'requests of a key'() {
    const enter = createEnterKey(4);
    const got = many.filter(() => tried(() => enter(attacker))).length;
    return got === 4 && tried(() => enter(victim));
  },
  creates: () => attackPlaces({ name: 'creates', placesMax: 20, shareMax: 10 }),
  async 'waiting requests'() {
    const watcher = createTaskWatcher({
      findMany: async (ids) =>
        ids.map((id) => firstRecord(id, { status: id === victim ? 'succeeded' : 'pending' })),
      onError: () => undefined,
      now: Date.now,
      intervalMs: 10,
      waitersMax: 8,
    });
    onTestFinished(() => watcher.release());
    const { signal } = new AbortController();
    const wait = (account: string) =>
      watcher.waitForChange({ task: account, account, status: 'pending', timeoutMs: 600_000, signal });
    for (const _ of many) void wait(attacker);
    return (await wait(victim))?.status === 'succeeded';
  },
  reports: () => attackPlaces(reportsMax),
  'bodies of json': () => attackBodies(budgets().memory.json),
  'bodies of images': () => attackBodies(budgets().memory.images),
  'bodies of callbacks': () => attackBodies(budgets().memory.callbacks),
  'uploads on disk': () => attackBodies(budgets().disk),
  'fetched files': () => attackPlaces(fetchesMax),
  'fetched images'() {
    const images = createFetchedImages(100);
    const reserve = (account: string) => tried(() => images.open(account).reserve(1));
    const got = many.filter(() => reserve(attacker)).length;
    return got === 75 && reserve(victim);
  },
  'partial images read': () => attackPlaces(partialReadsMax),
  'lists read': () => attackPlaces(listsReadMax),
  async 'image calls to an origin'() {
    const gate = createImageGate({
      circuits: {
        enter: async () => ({ open: false }),
        report: async () => undefined,
        leave: async () => undefined,
      },
      slots: { isLimited: () => false },
      onError: () => undefined,
    } as never);
    const pass = (account: string, send: () => Promise<unknown>) => {
      const call = { task: account, account, channel: 'c', credential: 'a', model: 'm', callMs: 1_000 };
      return gate.pass({ ...call, origin: 'https://upstream.example', calls: 10 }, send);
    };
    const refused = await Promise.race(many.map(() => pass(attacker, hangs)));
    return 'refused' in refused && 'sent' in (await pass(victim, async () => 'image'));
  },
  async 'images not stored yet'() {
    const images = createUnstoredImages(100);
    const waits = (account: string) => images.hold({ account, bytes: 1 }, async (mayWait) => mayWait());
    const crowd = () => images.hold({ account: attacker, bytes: 1 }, hangs);
    for (const _ of many) void crowd();
    return !(await waits(attacker)) && (await waits(victim)) && images.mayRender(victim);
  },
  async 'media threads'() {
    const probe = createMediaProbe();
    const time = new AbortController();
    const hanging = many.map(() => probe.probe({ bytes: 1000, read: hangs }, attacker, time.signal));
    const bytes = png(3, 2);
    const source = {
      bytes: bytes.length,
      read: async (start: number, end: number) => bytes.subarray(start, end),
    };
    const facts = await probe.probe(source, victim, new AbortController().signal);
    time.abort();
    await Promise.all(hanging);
    await probe.close();
    return facts !== undefined;
  },
  'callbacks of an account'() {
    const places = hostPlaces();
    const got = many.filter((n) => places.takeFree(`https://${n}.example`, attacker) !== undefined).length;
    return got === 50 && places.takeFree('https://own.example', victim) !== undefined;
  },
  'callbacks to an origin'() {
    const places = hostPlaces();
    const got = many.filter(() => places.takeFree('https://shared.example', attacker) !== undefined).length;
    return got === 12 && places.takeFree('https://shared.example', victim) !== undefined;
  },
  'first callbacks'() {
    const deps = { places: hostPlaces(), callsMax: 16, avoidMs: 60_000, now: Date.now };
    const hosts = createPromptHosts(deps);
    const got = many.filter((n) => hosts.enter(`https://${n}.example`, attacker) !== undefined).length;
    return got === 12 && hosts.enter('https://own.example', victim) !== undefined;
  },
  async 'copies retried'() {
    const copies = [...many.map((n) => `${attacker}-${n}`), victim].map((task) => {
      return { task, channel: task.split('-')[0], state: 'retry', names: [], tries: 0, dueAt: 0 };
    });
    const done = createDone();
    const copier = createResultCopier({
      copies: {
        listRetries: async () => copies,
        change: ({ task }: { readonly task: string }) => (task === victim ? done.resolve(true) : hangs()),
      },
      tasks: { find: async (id: string) => firstRecord(id, { channel: id.split('-')[0] ?? '' }) },
      log,
      now: Date.now,
    } as never);
    void copier.retryDue();
    return done.reached;
  },
  async 'copies for upstreams'() {
    const opened: string[] = [];
    const uploads = createUploads({
      uploads: {
        claim: async () => ({ kind: 'ours' }),
        complete: async () => true,
        abandon: async () => undefined,
      },
      files: {
        find: async (account: string) => ({ id: account, account, bytes: 10, name: 'a.png', media: {} }),
      },
      links: { read: (account: string) => ({ task: account }) },
      openStored: async (account: string) => {
        opened.push(account);
        return account === attacker ? hangs() : [Buffer.from('x')];
      },
      channels: () => ({
        config: { id: 'c' },
        context: () => ({}),
        provider: { upload: async () => ({ id: 'u', url: 'https://upstream.example/u' }) },
      }),
      copiesBytesMax: 100,
      log,
      now: Date.now,
    } as never);
    const { signal } = new AbortController();
    const register = (account: string) =>
      uploads.register({ ...testRequest, videos: [account] }, { channel: 'c', credential: 'a' }, signal);
    const refused = Promise.race(many.map(() => register(attacker)));
    await expect(refused).rejects.toMatchObject({ outcome: 'unavailable', code: 'no_room' });
    const got = await register(victim);
    return opened.filter((account) => account === attacker).length === 7 && got !== undefined;
  },
  async 'uploads deleted'() {
    const due = [...many.map(() => attacker), victim].map((channel, n) => {
      return { id: `${n}`, file: `${n}`, channel, credential: 'a', tries: 0 };
    });
    const done = createDone();
    const channels = (id: string) => ({
      context: () => ({}),
      provider: { removeUpload: async () => (id === victim ? done.resolve(true) : hangs()) },
    });
    const uploads = { listDue: async () => due, remove: async () => undefined };
    void createUploads({ uploads, channels, log, now: Date.now } as never).removeDue();
    return done.reached;
  },
  async 'attempts that poll in a worker'() {
    const stays = createStayPlaces({ placesMax: () => 10, monotonic: Date.now });
    const enter = (account: string, n: number) => stays.enter({ queue: 'ark', account }, `${account}-${n}`);
    const got = many.filter((n) => enter(attacker, n) !== undefined).length;
    return got === 10 && enter(victim, 0) !== undefined;
  },
};

it.each(sharedPlaces)('a holder that takes all it can leaves the others their share: %s', async (name) => {
  expect(await attacks[name]()).toBe(true);
});
