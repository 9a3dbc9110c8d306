import { afterAll, beforeAll, expect, it } from 'vitest';
import { operatorRoles } from '../../src/base/operator.ts';
import { createOperatorStore, type Operator, type OperatorStore } from '../../src/store/operators.ts';
import { openDatabase } from '../capacity/support.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
let operators: OperatorStore;
let clock = 100;
beforeAll(async () => {
  database = await openDatabase();
  operators = createOperatorStore(database.db, () => clock);
  await operators.ensureIndexes();
});
afterAll(() => database.drop());

const operator = (name: string, change: Partial<Operator> = {}): Operator => ({
  name,
  roles: operatorRoles,
  hmac: `hmac of ${name}`,
  prefix: 'op-abcde',
  createdAt: 1,
  createdBy: 'admin',
  ...change,
});

it('an operator is found only by the HMAC of the token', async () => {
  await operators.insert(operator('anna', { roles: ['read'] }));
  expect(await operators.findByHmac('hmac of anna')).toEqual(operator('anna', { roles: ['read'] }));
  expect(await operators.findByHmac('hmac of nobody')).toBeUndefined();
  expect(await operators.findByHmac('')).toBeUndefined();
});

it('of several concurrent requests with one name, one succeeds, and the other tokens are invalid', async () => {
  const added = await Promise.all(
    Array.from({ length: 8 }, (_, n) => operators.insert(operator('ben', { hmac: `try ${n}` }))),
  );
  expect(added.filter((isNew) => isNew)).toHaveLength(1);
  for (const [n, isNew] of added.entries())
    expect((await operators.findByHmac(`try ${n}`)) !== undefined).toBe(isNew);
});

it('a token cannot belong to two operators', async () => {
  await operators.insert(operator('carla'));
  expect(await operators.insert(operator('carlo', { hmac: 'hmac of carla' }))).toBe(false);
  expect(await operators.findByHmac('hmac of carla')).toMatchObject({ name: 'carla' });
});

it('an operator is revoked once, and the first time and the first person are kept', async () => {
  await operators.insert(operator('dora'));
  clock = 200;
  expect(await operators.revoke('dora', 'anna')).toBe(true);
  clock = 300;
  expect(await operators.revoke('dora', 'ben')).toBe(true);
  expect(await operators.findByHmac('hmac of dora')).toMatchObject({ revokedAt: 200, revokedBy: 'anna' });
  expect(await operators.revoke('nobody', 'anna')).toBe(false);
});

it('the name of a revoked operator can be used again, and the old token stays invalid', async () => {
  await operators.insert(operator('emil'));
  expect(await operators.insert(operator('emil', { hmac: 'new' }))).toBe(false);
  await operators.revoke('emil', 'anna');
  expect(await operators.insert(operator('emil', { hmac: 'new', roles: ['read'] }))).toBe(true);
  expect(await operators.findByHmac('hmac of emil')).toBeUndefined();
  const again = await operators.findByHmac('new');
  expect(again).toEqual(operator('emil', { hmac: 'new', roles: ['read'] }));
});

it('the last use is the latest, in whatever order the processes write', async () => {
  await operators.insert(operator('flora'));
  const uses = new Map([
    ['nobody', 9],
    ['flora', 500],
  ]);
  await operators.noteUsed(uses);
  await operators.noteUsed(new Map([['flora', 400]]));
  expect(await operators.findByHmac('hmac of flora')).toMatchObject({ lastUsedAt: 500 });
  expect((await operators.list()).map(({ name }) => name)).not.toContain('nobody');
});

it('the list is ordered by name', async () => {
  const names = (await operators.list()).map(({ name }) => name);
  expect(names).toEqual(names.toSorted());
  expect(names).toEqual(expect.arrayContaining(['anna', 'ben', 'carla', 'dora', 'emil', 'flora']));
});
