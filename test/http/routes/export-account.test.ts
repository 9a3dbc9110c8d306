import { expect, it } from 'vitest';
import { adminCaller } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';
import { firstRecord } from '../../support/task-records.ts';

const world = useHttpWorld('route_export_account');

it('one object per line: account, keys, tasks with their requests, entries, and a count', async () => {
  const account = await world.newAccount();
  const hook = 'https://me.example/hook?secret=1';
  const first = (await account.create({ prompt: 'a "quoted"\nboat', metadata: { callback_url: hook } })).body
    .id;
  const others = Array.from({ length: 101 }, (_, n) => firstRecord(`task_${n}`, { account: account.id }));
  await Promise.all(others.map((task) => world.stores.tasks.insert(task)));
  const answer = await world.admin('GET', `/accounts/${account.id}/export`);
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/x-ndjson']);
  const lines = answer.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const kinds = lines.map(({ object }) => object);
  expect([...new Set(kinds)]).toEqual([
    'export.account',
    'export.key',
    'export.task',
    'export.entry',
    'export.end',
  ]);
  expect(lines[0].account).toMatchObject({ id: account.id, name: account.id });
  expect(lines[1].key).toMatchObject({ id: account.keyId, name: 'test' });
  expect(answer.text).not.toContain(account.key);
  expect(lines.find(({ task }) => task?.id === first)).toMatchObject({
    request: { prompt: 'a "quoted"\nboat' },
    callback_url: hook,
  });
  expect(new Set(lines.flatMap(({ task }) => task?.id ?? [])).size).toBe(102);
  expect(lines.at(-1)).toEqual({ object: 'export.end', keys: 1, tasks: 102, entries: 2 });
  const seqs = lines.flatMap(({ entry }) => entry?.seq ?? []);
  expect(seqs).toEqual([1, 2]);
});

it('403: the export contains what callers wrote; 404', async () => {
  const { id } = await world.newAccount();
  const { body } = await world.admin('POST', '/operators', { name: 'reader', roles: ['read'] });
  const reader = adminCaller(world.url, body.token);
  expect((await reader('GET', `/accounts/${id}/export`)).status).toBe(403);
  expect((await world.admin('GET', '/accounts/none/export')).body.error.code).toBe('account_not_found');
});

it('429: one export of an operator at a time, until it has been read', async () => {
  const { id } = await world.newAccount();
  const { ledger } = world.deps;
  let go = (): void => undefined;
  const gone = new Promise<void>((resolve) => (go = resolve));
  let reads = 0;
  const node = await world.startNode({
    ledger: {
      ...ledger,
      async balance(account) {
        reads += 1;
        await gone;
        return ledger.balance(account);
      },
    },
  });
  const ask = () => node.admin('GET', `/accounts/${id}/export`);
  const first = ask();
  await expect.poll(() => reads).toBe(1);
  const second = await ask();
  expect([second.status, second.body.error.code]).toEqual([429, 'concurrency_limit_exceeded']);
  go();
  expect((await first).status).toBe(200);
  expect((await ask()).status).toBe(200);
});
