import { once } from 'node:events';
import { request } from 'node:http';
import { expect, it } from 'vitest';
import type { AppDeps } from '../../../src/http/deps.ts';
import { runLine } from '../../cli/support.ts';
import { adminToken, useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_verify_ledger');

const lastLine = (text: string) => JSON.parse(text.trim().split('\n').at(-1) ?? '');

it('reads the whole ledger for any operator, and logs the name', async () => {
  const { body: operator } = await world.admin('POST', '/operators', { name: 'auditor', roles: ['viewer'] });
  const account = await world.newAccount();
  const headers = { authorization: `Bearer ${operator.token}`, 'x-request-id': 'a-verification' };
  const answer = await world.call('POST', '/admin/v1/ledger/verify', { headers });
  expect(answer.headers['content-type']).toBe('application/x-ndjson');
  expect(lastLine(answer.text)).toEqual({
    result: {
      accounts: 1,
      entries: 1,
      open_holds: { workflow: 0, lease: 0, creation: 0 },
      exported_heads: null,
      violation_count: 0,
      violations: [],
    },
  });
  const logged = () => world.logLines.map((line) => JSON.parse(line));
  await expect
    .poll(() => logged().filter((line) => line.request_id === 'a-verification'))
    .toMatchObject([{ operation: 'verifyLedger', actor: 'auditor' }]);
  expect(logged()).toContainEqual(
    expect.objectContaining({ msg: 'the ledger was verified', operator: 'auditor', count: 0 }),
  );
  await account.create();
  const { text, status } = await runLine(world, ['ledger', 'verify', '-o', 'json']);
  expect(JSON.parse(text)).toMatchObject({
    entries: 2,
    violation_count: 1,
    violations: [{ invariant: 'open_hold_is_live', account: account.id }],
  });
  expect(status).toBe(1);
});

async function waitingNode(change: Partial<AppDeps> = {}) {
  const begun: { end: () => void; signal: AbortSignal }[] = [];
  const verifyLedger: AppDeps['verifyLedger'] = ({ signal }) =>
    new Promise((resolve, reject) => {
      if (signal === undefined) throw new Error('it can be stopped');
      signal.addEventListener('abort', () => reject(signal.reason));
      const openHolds = { workflow: 0, lease: 0, creation: 0 };
      const end = () => resolve({ openHolds, accounts: 0, entries: 0, violations: [], violationCount: 0 });
      begun.push({ end, signal });
    });
  return { node: await world.startNode({ ...change, verifyLedger }), begun };
}

it('stops when its caller has disconnected, and only then runs for another', async () => {
  const { node, begun } = await waitingNode();
  const call = () =>
    request(`${node.url}/admin/v1/ledger/verify`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}` },
    });
  const first = call();
  first.on('error', () => undefined).end();
  const [answer] = await once(first, 'response');
  expect(answer.statusCode).toBe(200);
  const second = await node.admin('POST', '/ledger/verify');
  expect(second).toMatchObject({ status: 429, body: { error: { code: 'concurrency_limit_exceeded' } } });
  expect(begun[0]?.signal.aborted).toBe(false);
  answer.destroy();
  await expect.poll(() => begun[0]?.signal.aborted).toBe(true);
  const third = node.admin('POST', '/ledger/verify');
  await expect.poll(() => begun.length).toBe(2);
  begun[1]?.end();
  expect(lastLine((await third).text)).toMatchObject({ result: { violation_count: 0 } });
});

it('stops if its caller disconnected before it began', async () => {
  const { operatorAuth } = world.deps;
  if (operatorAuth === undefined) throw new Error('there are operators');
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let isAsked = false;
  const authenticate: typeof operatorAuth.authenticate = async (shown) => {
    isAsked = true;
    await released;
    return operatorAuth.authenticate(shown);
  };
  const { node, begun } = await waitingNode({ operatorAuth: { ...operatorAuth, authenticate } });
  const headers = { authorization: `Bearer ${adminToken}` };
  const call = request(`${node.url}/admin/v1/ledger/verify`, { method: 'POST', headers });
  call.on('error', () => undefined).end();
  await expect.poll(() => isAsked).toBe(true);
  call.destroy();
  // Once these responses arrive, the API has noticed that the other caller has disconnected.
  for (let n = 0; n < 3; n += 1) await node.call('GET', '/healthz');
  release();
  await expect.poll(() => begun[0]?.signal.aborted).toBe(true);
});

it('a failure during the work makes the command line fail', async () => {
  const node = await world.startNode({ verifyLedger: () => Promise.reject(new Error('secret')) });
  await expect(runLine(world, ['ledger', 'verify'], { url: node.url })).rejects.toMatchObject({
    status: 1,
    message: expect.stringContaining('internal_error'),
  });
});
