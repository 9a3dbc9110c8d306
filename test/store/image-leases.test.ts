import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createImageLeaseStore, imageLeaseIdLength } from '../../src/store/image-leases.ts';
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

describe('a lease', () => {
  const open = () => createImageLeaseStore(database.db);
  const lease = { id: 'img_00000000000a', process: 'p', from: 'img_00000000000a0', expiresAt: 1_000 };

  it('is renewed or declared dead, never both', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = `img_both${round}`;
      await open().insert({ ...lease, id });
      const [isRenewed, isDead] = await Promise.all([
        open().renew(id, { from: lease.from, expiresAt: 9_000 }),
        open().declareDead({ id, expiresAt: lease.expiresAt }),
      ]);
      expect(isRenewed).toBe(!isDead);
      expect(await open().renew(id, { from: lease.from, expiresAt: 9_001 })).toBe(!isDead);
      await open().remove(id);
    }
  });

  it('cannot be made twice, nor be renewed once it is removed', async () => {
    await open().insert(lease);
    await expect(open().insert({ ...lease, process: 'other' })).rejects.toThrow(/duplicate/i);
    await open().remove(lease.id);
    expect(await open().renew(lease.id, lease)).toBe(false);
    expect(await open().declareDead(lease)).toBe(false);
  });

  it('is expired after its time, and as many are listed as asked for', async () => {
    for (const n of [1, 2, 3]) await open().insert({ ...lease, id: `img_list${n}`, expiresAt: -10 * n });
    expect(await open().expired(-30, 9)).toEqual([]);
    expect((await open().expired(-29, 9)).map(({ id }) => id)).toEqual(['img_list3']);
    expect(await open().expired(0, 2)).toHaveLength(2);
  });

  it('covers the images whose ids begin with its own', async () => {
    const covered = `${lease.id}${'0'.repeat(imageLeaseIdLength - lease.id.length)}`;
    await open().insert({ ...lease, id: covered });
    const images = [`${covered}7`, `${covered}8`, `img_${'9'.repeat(20)}`];
    expect(await open().existing(images)).toEqual(new Set(images.slice(0, 2)));
  });
});

describe('what an image’s account owes', () => {
  it('is read as it was last written, until it is paid', async () => {
    const leases = createImageLeaseStore(database.db);
    await Promise.all([leases.owe('i1', 5n), leases.owe('i1', 5n)]);
    await leases.owe('i2', 2n ** 53n + 1n);
    expect([await leases.owedFor('i1'), await leases.owedFor('i2')]).toEqual([5n, 2n ** 53n + 1n]);
    await leases.paid('i1');
    await leases.paid('i1');
    expect([await leases.owedFor('i1'), await leases.owedFor('i2')]).toEqual([undefined, 2n ** 53n + 1n]);
  });
});
