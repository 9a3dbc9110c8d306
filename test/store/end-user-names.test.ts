import { expect, it } from 'vitest';
import { createEndUserNames } from '../../src/store/end-user-names.ts';

const names = createEndUserNames(Buffer.alloc(32, 'one'));
const others = createEndUserNames(Buffer.alloc(32, 'other'));
const users = ['u', 'Zoë of the shop', 'alice@example.com', 'x'.repeat(256), '=1+1', 'eu_AAAA', ''];

it.each(users)(
  'the pseudonym of %j is always the same, has the prefix, and can be read with its key',
  (user) => {
    const pseudonym = names.hide(user);
    expect(pseudonym).toMatch(/^eu_[\w-]{43,}$/);
    expect(names.hide(user)).toBe(pseudonym);
    expect(names.read(pseudonym)).toBe(user);
  },
);

it('another key makes other pseudonyms, and cannot read these', () => {
  for (const user of users) {
    expect(others.hide(user)).not.toBe(names.hide(user));
    expect(others.read(names.hide(user))).toBe(names.hide(user));
  }
});

it('the pseudonyms of short names have the same length', () => {
  expect(names.hide('a').length).toBe(names.hide('fifteen letters').length);
});

it('text that is not a pseudonym of this key is returned unchanged', () => {
  const pseudonym = names.hide('alice');
  const changed = `${pseudonym.slice(0, 5)}${pseudonym[5] === 'A' ? 'B' : 'A'}${pseudonym.slice(6)}`;
  for (const text of ['alice', 'eu_', 'eu_AAAA', changed, pseudonym.slice(0, -4)]) {
    expect(names.read(text)).toBe(text);
  }
});

it('users whose names are too long or not printable stay distinct', () => {
  const unshown = ['x'.repeat(257), `${'x'.repeat(257)}y`, 'a\u202eb', 'a\u0000b', '\ud800'];
  const read = unshown.map((user) => names.read(names.hide(user)));
  for (const user of read) expect(user).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(new Set(read).size).toBe(unshown.length);
});
