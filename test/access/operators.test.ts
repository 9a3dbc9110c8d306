import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { operatorRoles } from '../../src/base/operator.ts';
import { createOperatorAuth } from '../../src/access/operators.ts';
import type { Operator } from '../../src/store/operators.ts';

const adminToken = 'configured-token';

function world() {
  const stored = new Map<string, Operator>();
  const reads: string[] = [];
  const used: string[] = [];
  const auth = createOperatorAuth({
    adminToken,
    operators: {
      findByHmac: async (hmac) => {
        reads.push(hmac);
        return stored.get(hmac);
      },
    },
    lastUsed: { note: (name) => used.push(name) },
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
  return { auth, add, stored, reads, used };
}

it('the token of the configuration is the first operator, without a read of the database', async () => {
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
])('the header %j is not the first operator', async (header) => {
  expect(await world().auth.authenticate(header)).toBeUndefined();
});

it.each(operatorRoles)('an operator has a name and the role %s', async (role) => {
  const { auth, add, used } = world();
  expect(await auth.authenticate(add('anna', { roles: [role] }))).toEqual({ name: 'anna', roles: [role] });
  expect(used).toEqual(['anna']);
});

it('an operator whose token was revoked is nobody', async () => {
  const { auth, add, used } = world();
  expect(await auth.authenticate(add('anna', { revokedAt: 1, revokedBy: 'admin' }))).toBeUndefined();
  expect(used).toEqual([]);
});

it('a revocation is effective at once where it was made', async () => {
  const { auth, add, stored } = world();
  const header = add('anna');
  await auth.authenticate(header);
  for (const [hmac, operator] of stored) stored.set(hmac, { ...operator, revokedAt: 1 });
  auth.forget('ben');
  expect(await auth.authenticate(header)).toBeDefined();
  auth.forget('anna');
  expect(await auth.authenticate(header)).toBeUndefined();
});
