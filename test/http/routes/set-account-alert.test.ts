import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const noted: [string, bigint][] = [];
const world = useHttpWorld('route_set_account_alert', {
  noteBalance: (account, { available }) => void noted.push([account, available]),
});

const set = (account: string, body: object) =>
  world.admin('POST', `/accounts/${account}/alert`, { reason: 'asked for it', ...body });

it('an alert is set, replaced and removed; the balance is compared with it at once', async () => {
  const { id } = await world.newAccount({ credit: '7' });
  const made = await set(id, { threshold: '10', url: 'https://acme.example/hooks?secret=abc' });
  expect([made.status, made.body]).toEqual([
    200,
    {
      object: 'account_alert',
      account: id,
      threshold: '10.000000',
      caps: false,
      url: 'https://acme.example/hooks',
      is_below: false,
      undelivered: 0,
    },
  ]);
  expect(noted).toEqual([[id, 7_000_000n]]);
  const [stored] = await world.db.collection('account_alerts').find().toArray();
  expect(stored?.['sealed'].data.toString('latin1')).not.toContain('acme.example');
  const replaced = await set(id, { threshold: '-1.5', url: 'https://acme.example/other' });
  expect(replaced.body).toMatchObject({ threshold: '-1.500000', url: 'https://acme.example/other' });
  const caps = await set(id, { caps: true, url: 'https://acme.example/caps' });
  expect(caps.body).toMatchObject({ threshold: null, caps: true, url: 'https://acme.example/caps' });
  expect((await set(id, {})).body).toMatchObject({ threshold: null, caps: false, url: null });
  expect(await world.db.collection('account_alerts').countDocuments()).toBe(0);
  const [entry] = (await world.admin('GET', '/audit?limit=1')).body.data;
  expect(entry).toMatchObject({ action: 'setAccountAlert', target: id, reason: 'asked for it' });
});

it('404, 400', async () => {
  const { id } = await world.newAccount();
  const errorOf = async (account: string, body: object) => (await set(account, body)).body.error;
  const url = 'https://acme.example/hooks';
  expect((await errorOf('none', { threshold: '1', url })).code).toBe('account_not_found');
  expect(await errorOf(id, { threshold: '1' })).toMatchObject({ code: 'missing_parameter', param: 'url' });
  expect(await errorOf(id, { threshold: '1', url: 'https://forbidden.example/' })).toMatchObject({
    code: 'callback_url_not_allowed',
    param: 'url',
  });
  expect(await errorOf(id, { caps: true })).toMatchObject({ code: 'missing_parameter', param: 'url' });
  expect((await errorOf(id, { threshold: '1e3', url })).param).toBe('threshold');
  expect((await errorOf(id, { threshold: '1', url, reason: '' })).param).toBe('reason');
});
