import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { operatorRoles } from '../../src/base/operator.ts';
import { createOperatorAuth } from '../../src/access/operators.ts';
import type { OperatorSession } from '../../src/store/operator-sessions.ts';
import type { Operator } from '../../src/store/operators.ts';

const adminToken = 'configured-token';

function world() {
  const stored = new Map<string, Operator>();
  const reads: string[] = [];
  const used: string[] = [];
  const sessions = new Map<string, OperatorSession>();
  const auth = createOperatorAuth({
    adminToken,
    operators: {
      findByHmac: async (hmac) => {
        reads.push(hmac);
        return stored.get(hmac);
      },
    },
    sessions: {
      findByHmac: async (hmac) => sessions.get(hmac),
      open: async (session) => void sessions.set(session.hmac, session),
    },
    lastUsed: { note: (name) => used.push(name) },
    sessionUsed: { note: (id) => used.push(id) },
    secret: Buffer.from('secret'),
    now: () => 1,
    randomBytes,
  });
  const add = (name: string, facts: Partial<Operator> = {}) => {
    const { token, hmac, prefix } = auth.newToken();
    stored.set(hmac, {
      name,
      roles: operatorRoles,
      hmac,
      prefix,
      createdAt: 1,
      createdBy: 'admin',
      ...facts,
    });
    return `Bearer ${token}`;
  };
  return { auth, add, stored, sessions, reads, used };
}

it('the configured token identifies the first operator without reading the database', async () => {
  const { auth, reads, used } = world();
  expect(await auth.authenticate(`Bearer ${adminToken}`)).toEqual({ name: 'admin', roles: 'admin' });
  expect([reads, used]).toEqual([[], []]);
});

it.each([
  '',
  'Bearer',
  'Bearer configured-toke',
  'Bearer configured-token1',
  'Bearer CONFIGURED-TOKEN',
  adminToken,
  `Basic ${adminToken}`,
  undefined,
])('the header %j does not identify the first operator', async (header) => {
  expect(await world().auth.authenticate(header)).toBeUndefined();
});

it.each(operatorRoles)('an operator has a name and the role %s', async (role) => {
  const { auth, add, used } = world();
  expect(await auth.authenticate(add('anna', { roles: [role] }))).toEqual({ name: 'anna', roles: [role] });
  expect(used).toEqual(['anna']);
});

it('a revoked token identifies no operator', async () => {
  const { auth, add, used } = world();
  expect(await auth.authenticate(add('anna', { revokedAt: 1, revokedBy: 'admin' }))).toBeUndefined();
  expect(used).toEqual([]);
});

it('a revocation takes effect at once in the process that made it', async () => {
  const { auth, add, stored } = world();
  const header = add('anna');
  await auth.authenticate(header);
  for (const [hmac, operator] of stored) stored.set(hmac, { ...operator, revokedAt: 1 });
  auth.forget('ben');
  expect(await auth.authenticate(header)).toBeDefined();
  auth.forget('anna');
  expect(await auth.authenticate(header)).toBeUndefined();
});

const from = { address: '203.0.113.7', agent: 'a browser' };

it('a session has the name and roles of the token that opened it', async () => {
  const { auth, add, used } = world();
  const opened = await auth.openSession(add('anna', { roles: ['read', 'money'] }), from);
  const header = `Bearer ${opened?.token}`;
  const session = opened?.session.id;
  expect(await auth.authenticate(header)).toEqual({ name: 'anna', roles: ['read', 'money'], session });
  expect(used).toEqual(['anna', session]);
  expect(opened?.session).toMatchObject({ operator: 'anna', ...from });
});

it('a session ends at the next request after it or its token has ended', async () => {
  const { auth, add, stored, sessions } = world();
  const [first, second] = [
    await auth.openSession(add('anna'), from),
    await auth.openSession(add('ben'), from),
  ];
  const [anna, ben] = [`Bearer ${first?.token}`, `Bearer ${second?.token}`];
  expect(await Promise.all([auth.authenticate(anna), auth.authenticate(ben)])).not.toContain(undefined);
  sessions.delete(first?.session.hmac ?? '');
  for (const [hmac, operator] of stored) stored.set(hmac, { ...operator, revokedAt: 1 });
  expect([await auth.authenticate(anna), await auth.authenticate(ben)]).toEqual([undefined, undefined]);
});

it('a new ADMIN_TOKEN ends the sessions of the previous one', async () => {
  const { auth, sessions } = world();
  const header = `Bearer ${(await auth.openSession(`Bearer ${adminToken}`, from))?.token}`;
  expect(await auth.authenticate(header)).toMatchObject({ name: 'admin', roles: 'admin' });
  for (const [hmac, session] of sessions) sessions.set(hmac, { ...session, openedBy: 'another' });
  expect(await auth.authenticate(header)).toBeUndefined();
});

it('neither a session nor a stranger opens a session', async () => {
  const { auth, add } = world();
  const opened = await auth.openSession(add('anna'), from);
  expect(await auth.openSession(`Bearer ${opened?.token}`, from)).toBeUndefined();
  expect(await auth.openSession('Bearer op-nobody', from)).toBeUndefined();
});
