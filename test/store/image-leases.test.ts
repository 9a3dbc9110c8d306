import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createImageLeaseStore, imageLeaseIdLength } from '../../src/store/image-leases.ts';
import { openDatabase } from '../capacity/support.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.drop());

async function all(leases: ReturnType<typeof createImageLeaseStore>) {
  const found = [];
  for await (const lease of leases.each()) found.push(lease);
  return found;
}

it('a lease that was declared dead is not renewed while its holds are being closed', async () => {
  const leases = createImageLeaseStore(database.db);
  const lease = { id: 'img_dead', process: 'p', from: 'img_dead0' };
  await leases.insert(lease);
  expect(await leases.declareDead({ ...lease, beat: 0 })).toBe(true);
  expect(await leases.renew(lease.id, lease.from)).toBe(false);
  expect(await all(leases)).toMatchObject([{ ...lease, beat: 0 }]);
});

it('a lease that was renewed since it was read is not declared dead', async () => {
  const leases = createImageLeaseStore(database.db);
  const lease = { id: 'img_live', process: 'p', from: 'img_live0' };
  await leases.insert(lease);
  expect(await leases.renew(lease.id, lease.from)).toBe(true);
  expect(await leases.declareDead({ ...lease, beat: 0 })).toBe(false);
  expect(await leases.renew(lease.id, lease.from)).toBe(true);
});

describe('a lease', () => {
  const open = () => createImageLeaseStore(database.db);
  const lease = { id: 'img_00000000000a', process: 'p', from: 'img_00000000000a0' };

  it('is renewed or declared dead, never both', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = `img_both${round}`;
      await open().insert({ ...lease, id });
      const [isRenewed, isDead] = await Promise.all([
        open().renew(id, lease.from),
        open().declareDead({ id, beat: 0 }),
      ]);
      expect(isRenewed).toBe(!isDead);
      expect(await open().renew(id, lease.from)).toBe(!isDead);
      await open().remove(id);
    }
  });

  it('cannot be created twice, nor be renewed once it is removed', async () => {
    await open().insert(lease);
    await expect(open().insert({ ...lease, process: 'other' })).rejects.toThrow(/duplicate/i);
    await open().remove(lease.id);
    expect(await open().renew(lease.id, lease.from)).toBe(false);
    expect(await open().declareDead({ ...lease, beat: 0 })).toBe(false);
  });

  it('counts its renewals, and is listed with its last ones', async () => {
    const id = 'img_beats';
    await open().insert({ ...lease, id });
    for (const from of ['img_beats1', 'img_beats2']) expect(await open().renew(id, from)).toBe(true);
    const listed = (await all(open())).filter((one) => one.id === id);
    expect(listed).toEqual([{ id, process: 'p', from: 'img_beats2', beat: 2 }]);
  });

  it('covers the images whose ids begin with its own', async () => {
    const covered = `${lease.id}${'0'.repeat(imageLeaseIdLength - lease.id.length)}`;
    await open().insert({ ...lease, id: covered });
    const images = [`${covered}7`, `${covered}8`, `img_${'9'.repeat(20)}`];
    expect(await open().existing(images)).toEqual(new Set(images.slice(0, 2)));
  });
});

describe('the debt of an image’s account', () => {
  const upstream = { model: 'image-1', channel: 'one', cost: 3n, unknown: 0 };
  const small = { charge: 5n, basis: '{}', upstream };
  const large = { charge: 2n ** 53n + 1n, basis: '{}', upstream };

  it('is read in its latest version, until it is paid', async () => {
    const leases = createImageLeaseStore(database.db);
    await Promise.all([leases.owe('i1', small), leases.owe('i1', small)]);
    await leases.owe('i2', large);
    expect([await leases.owedFor('i1'), await leases.owedFor('i2')]).toEqual([small, large]);
    await leases.paid('i1');
    await leases.paid('i1');
    expect([await leases.owedFor('i1'), await leases.owedFor('i2')]).toEqual([undefined, large]);
  });
});
