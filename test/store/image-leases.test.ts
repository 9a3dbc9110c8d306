import { afterAll, beforeAll, expect, it } from 'vitest';
import { createImageLeaseStore } from '../../src/store/image-leases.ts';
import { openDatabase } from '../capacity/support.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.drop());

it('a lease that was declared dead is renewed no more, while its holds are being closed', async () => {
  const leases = createImageLeaseStore(database.db);
  const lease = { id: 'img_dead', process: 'p', from: 'img_dead0', expiresAt: 1_000 };
  await leases.insert(lease);
  expect(await leases.declareDead(lease)).toBe(true);
  expect(await leases.renew(lease.id, { from: lease.from, expiresAt: 9_000 })).toBe(false);
  expect(await leases.expired(2_000, 10)).toMatchObject([lease]);
});

it('a lease that was renewed since it was read is not declared dead', async () => {
  const leases = createImageLeaseStore(database.db);
  const lease = { id: 'img_live', process: 'p', from: 'img_live0', expiresAt: 1_000 };
  await leases.insert(lease);
  expect(await leases.renew(lease.id, { from: lease.from, expiresAt: 9_000 })).toBe(true);
  expect(await leases.declareDead(lease)).toBe(false);
  expect(await leases.renew(lease.id, { from: lease.from, expiresAt: 10_000 })).toBe(true);
});
