import { expect, it } from 'vitest';
import { useHttpWorld } from '../support/http-world.ts';

const world = useHttpWorld('operators_words');

const obeyed = ['\u001B[2J', '\u202Egnp', '\u009B31m', 'zero\u200Bwidth', 'two\nlines', 'half\uD800'];

const fields: [string, string, string, (text: string) => object][] = [
  ['an account’s name', '/accounts', 'name', (name) => ({ name })],
  ['a key’s name', '/keys', 'name', (name) => ({ account: 'named', name })],
  ['an operator’s name', '/operators', 'name', (name) => ({ name })],
  ['an account’s id', '/accounts', 'id', (id) => ({ id })],
  ['a credit’s note', '/accounts/named/credits', 'note', (note) => ({ amount: '1', reference: 'n', note })],
  ['a credit’s reference', '/accounts/named/credits', 'reference', (reference) => ({ amount: '1', reference })],
  ['why an account is closed', '/accounts/named/close', 'reason', (reason) => ({ reason })],
  ['why it may go below zero', '/accounts/named/overdraft', 'reason', (reason) => ({ overdraft_limit: '1', reason })],
  ['why its price has a factor', '/accounts/named/price-factors', 'reason', (reason) => ({ reason })],
  ['why a channel is switched', '/channels/one', 'reason', (reason) => ({ enabled: true, reason })],
  ['why a circuit is opened', '/channels/one/circuits', 'reason', (reason) => ({ credential: 'a', state: 'closed', reason })],
  ['why a key is replaced', '/keys/none/rotate', 'reason', (reason) => ({ reason })],
  ['why an operator acts', '/tasks/none/actions', 'reason', (reason) => ({ action: 'fail', reason })],
  ['the job that is adopted', '/tasks/none/actions', 'upstream_id', (upstream_id) => ({ action: 'adopt', reason: 'r', upstream_id })],
  ['the channel of another try', '/tasks/none/actions', 'channel', (channel) => ({ action: 'resubmit', reason: 'r', channel })],
]; // prettier-ignore

it.each(fields)('%s is refused if it contains control characters', async (_, path, param, bodyOf) => {
  await world.admin('POST', '/accounts', { id: 'named' });
  for (const text of obeyed) {
    const { status, body } = await world.admin('POST', path, bodyOf(`a${text}`));
    expect([text, status, body.error]).toEqual([
      text,
      400,
      expect.objectContaining({
        code: 'invalid_parameter',
        param,
        message: expect.stringMatching(/ (must|may) /),
      }),
    ]);
    expect(body.error.message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  }
});

it('a key cannot be revoked for such a reason either', async () => {
  const query = new URLSearchParams({ reason: 'a\u202E' }).toString();
  const { status, body } = await world.admin('DELETE', `/keys/none?${query}`);
  expect([status, body.error.param]).toEqual([400, 'reason']);
});

it('names in any script stay as they were written', async () => {
  const name = 'Ateliê 映像スタジオ — “été” 🚤';
  expect((await world.admin('POST', '/accounts', { name })).body.name).toBe(name);
});
