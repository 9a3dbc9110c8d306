import { beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import type { Route } from '../../src/http/route.ts';
import { keyScopes, type NeededScope } from '../../src/base/key-scope.ts';
import { isReading, operatorRoles, rolePresets, rolesOf } from '../../src/base/operator.ts';
import type { OperatorAccess } from '../../src/base/operator.ts';
import { adminToken, useHttpWorld, type Server } from '../support/http-world.ts';

const world = useHttpWorld('http_authorisation');

interface Opened {
  readonly scopes?: readonly NeededScope[];
  readonly roles?: readonly OperatorAccess[];
  readonly only?: readonly string[];
}

const everyScope: readonly NeededScope[] = ['any', ...keyScopes];
const stranger: Opened = {};

interface Row {
  readonly name: string;
  readonly opened: Opened;
  readonly key?: object;
  readonly roles?: readonly string[];
}

const rows: readonly Row[] = [
  ...[
    'nobody',
    'an empty header',
    'another scheme',
    'a key that never was',
    'a revoked key',
    'an expired key',
    'a token that never was',
    'a revoked operator',
  ].map((name) => ({ name, opened: stranger })),
  { name: 'a key as it is made', key: {}, opened: { scopes: ['any', 'create', 'read_own'] } },
  { name: 'a key with every scope', key: { scopes: keyScopes }, opened: { scopes: everyScope } },
  { name: 'a key that creates', key: { scopes: ['create'] }, opened: { scopes: ['any', 'create'] } },
  {
    name: 'a key that reads its own',
    key: { scopes: ['read_own'] },
    opened: { scopes: ['any', 'read_own'] },
  },
  {
    name: 'a key that reads the account',
    key: { scopes: ['read_account'] },
    opened: { scopes: ['any', 'read_own', 'read_account'] },
  },
  { name: 'a key that manages', key: { scopes: ['manage'] }, opened: { scopes: ['any', 'manage'] } },
  {
    name: 'a key for two routes',
    key: { scopes: ['create'], routes: ['createVideo', 'getVideo'] },
    opened: { scopes: ['any', 'create'], only: ['createVideo'] },
  },
  {
    name: 'a key for this address',
    key: { scopes: keyScopes, addresses: ['127.0.0.0/8', '::1'] },
    opened: { scopes: everyScope },
  },
  {
    name: 'a key for another address',
    key: { scopes: keyScopes, addresses: ['203.0.113.0/24', '2001:db8::1'] },
    opened: { scopes: everyScope, only: [] },
  },
  ...operatorRoles.map((role) => ({
    name: `an operator with the role ${role}`,
    roles: [role],
    opened: { roles: rolesOf([role]) },
  })),
  ...Object.entries(rolePresets).map(([preset, roles]) => ({
    name: `the operators’ preset ${preset}`,
    roles: [preset],
    opened: { roles },
  })),
  { name: 'the holder of ADMIN_TOKEN', opened: { roles: [...operatorRoles, 'admin'] } },
];

const headers = new Map<string, string>();
let node: Server;
let routes: readonly Route[];
// Wrong tokens lock out an IP address for a while, so calls are a day apart.
let at = Date.now();
const day = 86_400_000;

async function newOperator(name: string, roles: readonly string[]): Promise<string> {
  return (await world.admin('POST', '/operators', { name, roles })).body.token;
}

beforeAll(async () => {
  routes = createApp(world.deps).routes;
  const [valid, revoked] = [await world.newAccount(), await world.newAccount()];
  const expired = await world.newAccount({ key: { expires_at: Math.floor(Date.now() / 1000) + 60 } });
  await world.admin('DELETE', `/keys/${revoked.keyId}`);
  const gone = await newOperator('gone', ['everything']);
  await world.admin('DELETE', '/operators/gone');
  const bearers: Record<string, string> = {
    'a key that never was': `sk-${'A'.repeat(43)}00000000`,
    'a revoked key': revoked.key,
    'an expired key': expired.key,
    'a token that never was': `op-${'A'.repeat(43)}00000000`,
    'a revoked operator': gone,
    'the holder of ADMIN_TOKEN': adminToken,
  };
  for (const [n, { name, key, roles }] of rows.entries()) {
    if (key !== undefined)
      bearers[name] = (await world.newAccount({ key: { scopes: undefined, ...key } })).key;
    if (roles !== undefined) bearers[name] = await newOperator(`operator-${n}`, roles);
  }
  for (const [name, bearer] of Object.entries(bearers)) headers.set(name, `Bearer ${bearer}`);
  headers.set('an empty header', '');
  headers.set('another scheme', `Basic ${Buffer.from(`x:${valid.key}`).toString('base64')}`);
  const file = { text: 'x', hash: 'abc', currency: 'USD', by: 'start', node: 'n', at: 0 };
  await world.stores.configurations.publish(file);
  node = await world.startNode({ now: () => at });
  world.clock.aheadMs = 61_000;
});

function expected(route: Route, { scopes, roles, only }: Opened): 401 | 403 | undefined {
  if (route.authentication === 'none') return undefined;
  if (route.authentication === 'key') {
    if (scopes === undefined) return 401;
    const isOpen = scopes.includes(route.scope) && only?.includes(route.operationId) !== false;
    return isOpen ? undefined : 403;
  }
  if (roles === undefined) return 401;
  return [route.access].flat().some((role) => roles.includes(role)) ? undefined : 403;
}

describe.each(rows)('$name', ({ name, opened }) => {
  it('may call what its scopes or roles permit, and nothing else', async () => {
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
        if (refusal !== expected(route, opened) || answer.status === 429 || answer.status >= 500) {
          wrong.push(`${route.method} ${path}: ${answer.status}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});

/** This repeats the routes' declarations on purpose, so that the test fails if one of them is loosened. */
const guarded: Readonly<Record<string, readonly string[]>> = {
  read_account: ['getBalance', 'getOwnAlert', 'getStatement'],
  manage: ['rotateOwnWebhookSecret', 'setOwnAlert'],
  amounts: [
    'checkLedgerHeads',
    'compareBill',
    'explainPrice',
    'explainTaskPrice',
    'findBilledAttempts',
    'getAccountBalance',
    'getAccountStatement',
    'getMargin',
    'listBilledAttempts',
    'listLedgerEntries',
    'listLedgerHeads',
    'listUpstreamCosts',
    'listUsage',
    'tryPrices',
    'verifyLedger',
  ],
  money: [
    'actOnTask',
    'creditAccount',
    'refundImages',
    'setAccountAlert',
    'setEndUserCaps',
    'setKeyCaps',
    'setOverdraft',
    'setPriceFactors',
  ],
  access: [
    'closeAccount',
    'createAccount',
    'createKey',
    'inviteOperator',
    'reopenAccount',
    'revokeKey',
    'rotateKey',
    'rotateWebhookSecret',
    'withdrawInvitation',
  ],
  content: ['exportAccount', 'getTaskRequest'],
  configuration: [
    'addCatalogueModel',
    'discardConfigDraft',
    'editConfigDraft',
    'getConfigDraft',
    'getConfigDraftEntry',
    'publishConfigDraft',
    'reloadConfig',
    'rollBackConfig',
    'setChannel',
    'setCircuit',
    'testNotices',
    'tryCredential',
  ],
  admin: ['addOperator', 'deleteAccount', 'revokeOperator', 'setOperatorRoles'],
};

it.each(Object.entries(guarded))('the routes that need %s are known', (needed, operations) => {
  const found = routes.filter((route) => {
    if (route.authentication === 'none') return false;
    return route.authentication === 'key'
      ? route.scope === needed
      : [route.access].flat().some((one) => one === needed);
  });
  expect(found.map(({ operationId }) => operationId).toSorted()).toEqual(operations);
});

it('no route that changes something is open to a key or an operator who only reads', () => {
  const lax = routes.filter((route) => {
    if (route.authentication === 'none' || route.method === 'get' || route.method === 'options') return false;
    return route.authentication === 'key' ? /^read|any/.test(route.scope) : isReading(route.access);
  });
  // These operations either affect only an operator's own sessions or change nothing.
  expect(lax.map(({ operationId }) => operationId).toSorted()).toEqual([
    'checkLedgerHeads',
    'compareBill',
    'endSession',
    'endSessions',
    'explainPrice',
    'explainRoute',
    'findBilledAttempts',
    'openSession',
    'tryPrices',
    'verifyLedger',
  ]);
});

it('the matrix has a row for every operation', () => {
  expect(routes.length).toBeGreaterThan(35);
  expect(new Set(routes.map(({ authentication }) => authentication))).toEqual(
    new Set(['none', 'key', 'admin']),
  );
});
