import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_credit_account');

const credit = (account: string, body: object) => world.admin('POST', `/accounts/${account}/credits`, body);

it('is idempotent by reference, and may be negative', async () => {
  const { id } = await world.newAccount({ credit: '0' });
  const first = await credit(id, { amount: '12.5', reference: 'invoice-1', note: 'thanks' });
  expect(first.body).toEqual({
    object: 'ledger.entry',
    id: `${id}/1`,
    account: id,
    seq: 1,
    kind: 'credit',
    task: null,
    key_id: null,
    model: null,
    end_user: null,
    day: null,
    amount: '12.500000',
    available: '12.500000',
    held: '0.000000',
    note: 'by admin: thanks',
    upstream_cost: null,
    cost: null,
    cost_unknown: 0,
    at: expect.any(Number),
  });
  const again = await credit(id, { amount: '12.5', reference: 'invoice-1' });
  expect(again.body).toEqual(first.body);
  expect(again.headers['idempotency-replayed']).toBe('true');
  const correction = await credit(id, { amount: '-20', reference: 'invoice-1-corrected' });
  expect(correction.body).toMatchObject({ kind: 'adjust', amount: '-20.000000', available: '-7.500000' });
});

it('simultaneous ones with the same reference take effect once', async () => {
  const { id } = await world.newAccount({ credit: '0' });
  await Promise.all(Array.from({ length: 10 }, () => credit(id, { amount: '1', reference: 'same' })));
  expect((await world.admin('GET', `/accounts/${id}`)).body.available).toBe('1.000000');
});

it('409: the reference was for another amount', async () => {
  const { id } = await world.newAccount({ credit: '0' });
  await credit(id, { amount: '1', reference: 'r' });
  const answer = await credit(id, { amount: '2', reference: 'r' });
  expect([answer.status, answer.body.error]).toEqual([
    409,
    expect.objectContaining({ code: 'idempotency_key_reused', param: 'reference' }),
  ]);
});

it.each([
  [{ reference: 'r' }, 'missing_parameter', 'amount'],
  [{ amount: '1' }, 'missing_parameter', 'reference'],
  [{ amount: '1', reference: '' }, 'invalid_parameter', 'reference'],
  [{ amount: 1, reference: 'r' }, 'invalid_parameter', 'amount'],
  [{ amount: '0', reference: 'r' }, 'invalid_parameter', 'amount'],
  [{ amount: '1e3', reference: 'r' }, 'invalid_parameter', 'amount'],
  [{ amount: '1,5', reference: 'r' }, 'invalid_parameter', 'amount'],
  [{ amount: '0.0000001', reference: 'r' }, 'invalid_parameter', 'amount'],
  [{ amount: '1000000000000', reference: 'r' }, 'invalid_parameter', 'amount'],
])('400: %j', async (body, code, param) => {
  const { id } = await world.newAccount({ credit: '0' });
  const answer = await credit(id, body);
  expect([answer.status, answer.body.error]).toEqual([400, expect.objectContaining({ code, param })]);
});

it('400: credits that add up to more than the ledger holds', async () => {
  const { id } = await world.newAccount({ credit: '0' });
  const most = { amount: '999999999999.999999', reference: 'r0' };
  expect((await credit(id, most)).status).toBe(200);
  for (const reference of ['r1', 'r2']) {
    const answer = await credit(id, { ...most, reference });
    expect([answer.status, answer.body.error]).toEqual([
      400,
      expect.objectContaining({ code: 'invalid_parameter', param: 'amount' }),
    ]);
  }
  expect((await credit(id, most)).headers['idempotency-replayed']).toBe('true');
  expect((await credit(id, { amount: '-0.5', reference: 'r3' })).status).toBe(200);
});

it('404', async () => {
  const answer = await credit('none', { amount: '1', reference: 'r' });
  expect([answer.status, answer.body.error.code]).toEqual([404, 'account_not_found']);
});
