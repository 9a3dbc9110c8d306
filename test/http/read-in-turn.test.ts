import { get } from 'node:http';
import { setImmediate as soon } from 'node:timers/promises';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import type { AppDeps } from '../../src/http/deps.ts';
import { listsReadMax, readsMany } from '../../src/http/read-in-turn.ts';
import type { Route } from '../../src/http/route.ts';
import { adminToken, useHttpWorld, type Server } from '../support/http-world.ts';
import { caller, type Answer, type TestAccount } from '../support/client.ts';

const world = useHttpWorld('http_read_in_turn');
const { shareMax } = listsReadMax;
let node: Server;
let account: TestAccount;
let other: TestAccount;
let task: string;
const hanging: (() => void)[] = [];
let hangs = (_account: string | undefined): boolean => false;
let reads = 0;
let checked = 0;

beforeAll(async () => {
  const { stores } = world;
  const list: AppDeps['tasks']['list'] = async (filter, page) => {
    reads += 1;
    if (hangs(filter.account)) await new Promise<void>((resolve) => hanging.push(resolve));
    return stores.tasks.list(filter, page);
  };
  const { auth } = world.deps;
  const authenticate: AppDeps['auth']['authenticate'] = (shown) => {
    checked += 1;
    return auth.authenticate(shown);
  };
  node = await world.startNode({ tasks: { ...stores.tasks, list }, auth: { ...auth, authenticate } });
  [account, other] = [await world.newAccount(), await world.newAccount()];
  task = (await account.create()).body.id;
});

const lists = '/v1/videos/generations?limit=1';
const ofKey = () => caller(node.url, account.key);
const ofOperator = () => caller(node.url, adminToken);

function hang(which: typeof hangs): () => void {
  hangs = which;
  const release = (): void => {
    hangs = () => false;
    for (const resolve of hanging.splice(0)) resolve();
  };
  onTestFinished(release);
  return release;
}

it('one account’s lists occupy only its share, and other accounts, creates and tasks do not wait', async () => {
  const release = hang((id) => id === account.id);
  const call = ofKey();
  const sent = Array.from({ length: 30 }, () => call('GET', lists));
  await expect.poll(() => hanging.length).toBe(shareMax);
  const theirs = caller(node.url, other.key);
  const body = { model: 'clip', prompt: 'a second boat' };
  const answers = await Promise.all([
    theirs('GET', lists),
    theirs('GET', '/v1/usage'),
    call('GET', `/v1/videos/generations/${task}`),
    call('POST', '/v1/videos/generations', { body }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(hanging).toHaveLength(shareMax);
  release();
  expect(new Set((await Promise.all(sent)).map(({ status }) => status))).toEqual(new Set([200]));
});

it('a waiting list of a caller who has disconnected is not read', async () => {
  const release = hang((id) => id === account.id);
  const call = ofKey();
  const sent = Array.from({ length: shareMax }, () => call('GET', lists));
  await expect.poll(() => hanging.length).toBe(shareMax);
  const before = { checked, reads };
  const headers = { authorization: `Bearer ${account.key}` };
  const left = get(`${node.url}${lists}`, { headers, agent: false });
  const closed = new Promise((resolve) => left.on('error', resolve));
  await expect.poll(() => checked).toBe(before.checked + 1);
  await call('GET', `/v1/videos/generations/${task}`);
  left.destroy();
  await closed;
  await call('GET', `/v1/videos/generations/${task}`);
  release();
  await Promise.all(sent);
  expect((await call('GET', lists)).status).toBe(200);
  expect(reads).toBe(before.reads + 1);
});

/** GETs with a credential that never wait. `getFileContent` is another one, but it is not available in this test. */
const immediate = [
  'getArkTask', 'getFalResult', 'getFalStatus', 'getImageTask', 'getOpenaiVideo', 'getOpenaiVideoContent',
  'getOpenrouterVideo', 'getOpenrouterVideoContent', 'getPrediction', 'getVideo', 'streamFalStatus',
]; // prettier-ignore

it('every GET with a credential waits, except those for a single task', () => {
  const gets = createApp(world.deps).routes.filter(
    ({ method, authentication }) => method === 'get' && authentication !== 'none',
  );
  expect(gets.length).toBeGreaterThan(50);
  const [waiting, others] = [gets.filter(readsMany), gets.filter((route) => !readsMany(route))];
  expect(waiting.length + others.length).toBe(gets.length);
  expect(others.map(({ operationId }) => operationId).toSorted()).toEqual(immediate);
});

it.each([
  ['key', () => ofKey(), lists],
  ['admin', () => ofOperator(), '/admin/v1/tasks?limit=1'],
] as const)('each route waits for a place if it reads many documents: %s', async (kind, as, list) => {
  const release = hang((id) => id === (kind === 'key' ? account.id : undefined));
  const call = as();
  const occupied = Array.from({ length: shareMax }, () => call('GET', list));
  await expect.poll(() => hanging.length).toBe(shareMax);
  const answered = new Set<string>();
  const ask = async (route: Route): Promise<Answer> => {
    const [path] = route.paths;
    const body = route.readBody === undefined ? {} : { body: {} };
    const answer = await call(
      route.method.toUpperCase(),
      path.replaceAll(/\{?:task_id\}?/g, task).replaceAll(/:\w+/g, 'x'),
      body,
    );
    answered.add(route.operationId);
    return answer;
  };
  const routes = createApp(world.deps).routes.filter(
    (route) => route.authentication === kind && !/Session|^verifyLedger$/.test(route.operationId),
  );
  const waiting = routes.filter(readsMany).map(ask);
  await Promise.all(routes.filter((route) => !readsMany(route)).map(ask));
  expect(routes.filter(readsMany).filter(({ operationId }) => answered.has(operationId))).toEqual([]);
  release();
  await Promise.all([...waiting, ...occupied]);
  expect(answered.size).toBe(new Set(routes.map(({ operationId }) => operationId)).size);
});

it('a caller who reads statements slowly occupies no place', async () => {
  const { ledger } = world.deps;
  const statement: AppDeps['ledger']['statement'] = async (...asked) => {
    const opened = await ledger.statement(...asked);
    const page: never[] = [];
    for await (const entries of opened.pages()) page.push(...(entries as never[]));
    async function* pages() {
      for (;;) {
        await soon();
        yield Array.from({ length: 100 }, () => page).flat();
      }
    }
    return { ...opened, pages };
  };
  const slowNode = await world.startNode({ ledger: { ...ledger, statement } });
  const month = new Date().toISOString().slice(0, 7);
  const headers = { authorization: `Bearer ${account.key}` };
  const slow = Array.from({ length: 2 * shareMax }, () =>
    get(`${slowNode.url}/v1/statement?month=${month}`, { headers, agent: false }).on(
      'error',
      () => undefined,
    ),
  );
  const begun = await Promise.all(
    slow.map((request) => new Promise((resolve) => request.on('response', resolve))),
  );
  expect(begun).toHaveLength(2 * shareMax);
  expect((await caller(slowNode.url, account.key)('GET', lists)).status).toBe(200);
  for (const request of slow) request.destroy();
  await slowNode.close(0);
});
