import { beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { accessOf } from '../../src/http/route.ts';
import type { Route } from '../../src/http/route.ts';
import type { OperatorAccess } from '../../src/base/operator.ts';
import { adminToken, useHttpWorld } from '../support/http-world.ts';
import type { Server } from '../support/http-world.ts';

/** Every operation, called by everybody who may come: what the declaration of the route says is what happens. */

const world = useHttpWorld('http_authorisation');

type Opens = 'nothing' | 'key' | OperatorAccess;

/** What each identity opens; which header it sends is known when the world is. */
const identities = [
  ['nobody', 'nothing'],
  ['an empty header', 'nothing'],
  ['another scheme', 'nothing'],
  ['a key that never was', 'nothing'],
  ['a revoked key', 'nothing'],
  ['an expired key', 'nothing'],
  ['a key', 'key'],
  ['a token that never was', 'nothing'],
  ['a revoked operator', 'nothing'],
  ['an operator who reads', 'read'],
  ['an operator who acts', 'act'],
  ['the holder of ADMIN_TOKEN', 'admin'],
] as const satisfies readonly (readonly [string, Opens])[];

type Identity = (typeof identities)[number][0];

const headers = new Map<Identity, string>();
let node: Server;
let routes: readonly Route[];
// Wrong tokens lock an address out: each call is a day after the one before.
let at = Date.now();
const day = 86_400_000;

async function newOperator(name: string, role: string): Promise<string> {
  return (await world.admin('POST', '/operators', { name, role })).body.token;
}

beforeAll(async () => {
  routes = createApp(world.deps).routes;
  const [valid, revoked] = [await world.newAccount(), await world.newAccount()];
  const expired = await world.newAccount({ key: { expires_at: Math.floor(Date.now() / 1000) + 60 } });
  await world.admin('DELETE', `/keys/${revoked.keyId}`);
  const gone = await newOperator('gone', 'act');
  await world.admin('DELETE', '/operators/gone');
  const bearers: Partial<Record<Identity, string>> = {
    'a key that never was': `sk-${'A'.repeat(43)}00000000`,
    'a revoked key': revoked.key,
    'an expired key': expired.key,
    'a key': valid.key,
    'a token that never was': `op-${'A'.repeat(43)}00000000`,
    'a revoked operator': gone,
    'an operator who reads': await newOperator('reader', 'read'),
    'an operator who acts': await newOperator('actor', 'act'),
    'the holder of ADMIN_TOKEN': adminToken,
  };
  for (const [name] of identities) {
    const bearer = bearers[name];
    if (bearer !== undefined) headers.set(name, `Bearer ${bearer}`);
  }
  headers.set('an empty header', '');
  headers.set('another scheme', `Basic ${Buffer.from(`x:${valid.key}`).toString('base64')}`);
  const file = { text: 'x', hash: 'abc', currency: 'USD', by: 'start', node: 'n', at: 0 };
  await world.stores.configurations.publish(file);
  node = await world.startNode({ now: () => at });
  // The key of one minute.
  world.clock.aheadMs = 61_000;
});

const access: readonly Opens[] = ['read', 'act', 'admin'];

/** 401, 403, or what the route itself says. */
function expected(route: Route, opens: Opens): 401 | 403 | undefined {
  if (route.authentication === 'none') return undefined;
  if (route.authentication === 'key') return opens === 'key' ? undefined : 401;
  if (!access.includes(opens)) return 401;
  return access.indexOf(opens) >= access.indexOf(accessOf(route)) ? undefined : 403;
}

describe.each(identities)('%s', (name, opens) => {
  it('may call what its role says, and nothing else', async () => {
    const authorization = headers.get(name);
    const wrong: string[] = [];
    for (const route of routes) {
      for (const path of route.paths) {
        at += day;
        const answer = await node.call(
          route.method.toUpperCase(),
          path.replaceAll(':task_id', 'task_x').replaceAll(/:\w+/g, 'x'),
          {
            ...(authorization === undefined ? {} : { headers: { authorization } }),
            ...(route.readBody === undefined ? {} : { body: {} }),
          },
        );
        const refusal = answer.status === 401 || answer.status === 403 ? answer.status : undefined;
        if (refusal !== expected(route, opens) || answer.status === 429 || answer.status >= 500) {
          wrong.push(`${route.method} ${path}: ${answer.status}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});

it('the matrix has a row for every operation', () => {
  expect(routes.length).toBeGreaterThan(35);
  expect(new Set(routes.map(({ authentication }) => authentication))).toEqual(
    new Set(['none', 'key', 'admin']),
  );
});
