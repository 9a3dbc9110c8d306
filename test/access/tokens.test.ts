import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { bearerToken, createTokens, sameText } from '../../src/access/tokens.ts';

interface Stored {
  readonly hmac: string;
  readonly name: string;
}

function world(kind = 'sk', secret = Buffer.from('secret')) {
  const clock = { now: 1_000_000 };
  const stored = new Map<string, Stored>();
  const reads: string[] = [];
  const database = { answer: async (hmac: string): Promise<Stored | undefined> => stored.get(hmac) };
  const open = () =>
    createTokens<Stored>({
      kind,
      secret,
      load: (hmac) => {
        reads.push(hmac);
        return database.answer(hmac);
      },
      now: () => clock.now,
      randomBytes,
    });
  const tokens = open();
  const issue = (name: string) => {
    const issued = tokens.newToken();
    stored.set(issued.hmac, { hmac: issued.hmac, name });
    return issued;
  };
  return { tokens, open, issue, stored, reads, database, clock };
}

describe('a new token', () => {
  it('has its kind, 256 bits and a checksum, and is recognised by its beginning', () => {
    const { token, prefix, hmac } = world('op').tokens.newToken();
    expect(token).toMatch(/^op-[0-9A-Za-z]{43}[0-9a-f]{8}$/);
    expect(token.startsWith(prefix)).toBe(true);
    expect(prefix).toHaveLength(8);
    expect(hmac).not.toContain(token.slice(3, 20));
  });

  it('is different each time, and its HMAC depends on the secret', () => {
    const { tokens } = world();
    expect(new Set(Array.from({ length: 100 }, () => tokens.newToken().token)).size).toBe(100);
    const bytes = (): Buffer => Buffer.alloc(64, 7);
    const hmacs = ['one', 'two'].map(
      (secret) =>
        createTokens<Stored>({
          kind: 'sk',
          secret: Buffer.from(secret),
          load: async () => undefined,
          now: Date.now,
          randomBytes: bytes,
        }).newToken().hmac,
    );
    expect(new Set(hmacs).size).toBe(2);
  });

  it('draws its characters uniformly by discarding bytes that would favour some', () => {
    const drawn: number[] = [];
    const tokens = createTokens<Stored>({
      kind: 'sk',
      secret: Buffer.from('s'),
      load: async () => undefined,
      now: Date.now,
      randomBytes: (size) => {
        drawn.push(size);
        // All bytes of the first draw lie outside the alphabet, so a second draw is needed.
        return drawn.length === 1 ? Buffer.alloc(size, 250) : Buffer.alloc(size, 61);
      },
    });
    expect(tokens.newToken().token).toMatch(/^sk-z{43}/);
    expect(drawn).toHaveLength(2);
  });
});

describe('a token in a header', () => {
  it('is found by its HMAC only', async () => {
    const { tokens, issue, reads } = world();
    const { token, hmac } = issue('anna');
    expect(await tokens.find(`Bearer ${token}`)).toEqual({ hmac, name: 'anna' });
    expect(reads).toEqual([hmac]);
  });

  it.each([
    ['the scheme in capitals', (token: string) => `BEARER ${token}`],
    ['several spaces', (token: string) => `bearer    ${token}`],
  ])('may have %s', async (_, header) => {
    const { tokens, issue } = world();
    const { token } = issue('anna');
    expect(await tokens.find(header(token))).toMatchObject({ name: 'anna' });
  });

  it.each([
    ['no header', () => undefined],
    ['nothing', () => ''],
    ['no scheme', (token: string) => token],
    ['another scheme', (token: string) => `Basic ${token}`],
    ['no space', (token: string) => `Bearer${token}`],
    ['a tab', (token: string) => `Bearer\t${token}`],
    ['something after it', (token: string) => `Bearer ${token} x`],
    ['two tokens', (token: string) => `Bearer ${token}, Bearer ${token}`],
    ['a line break', (token: string) => `Bearer ${token}\n`],
    ['quotes', (token: string) => `Bearer "${token}"`],
    ['one character less', (token: string) => `Bearer ${token.slice(0, -1)}`],
    ['one character more', (token: string) => `Bearer ${token}0`],
    ['the checksum in capitals', (token: string) => `Bearer ${token.slice(0, -8)}ABCDEF01`],
    ['another kind', (token: string) => `Bearer ${token.replace('sk-', 'op-')}`],
    ['ten thousand characters', () => `Bearer sk-${'a'.repeat(10_000)}`],
  ])('with %s identifies nobody, and costs no read of the database', async (_, header) => {
    const { tokens, issue, reads } = world();
    const { token } = issue('anna');
    expect(await tokens.find(header(token))).toBeUndefined();
    expect(reads).toEqual([]);
  });

  it('with one wrong character is rejected without a read, wherever the character is', async () => {
    const { tokens, issue, reads } = world();
    const { token } = issue('anna');
    for (let at = 3; at < token.length; at += 1) {
      const wrong = token[at] === 'a' ? 'b' : 'a';
      expect(await tokens.find(`Bearer ${token.slice(0, at)}${wrong}${token.slice(at + 1)}`)).toBeUndefined();
    }
    expect(reads).toEqual([]);
  });

  it('that was never issued is looked up each time, because guesses are not cached', async () => {
    const { tokens, reads } = world();
    const { token } = world('sk', Buffer.from('another gateway')).tokens.newToken();
    expect(await tokens.find(`Bearer ${token}`)).toBeUndefined();
    expect(await tokens.find(`Bearer ${token}`)).toBeUndefined();
    expect(reads).toHaveLength(2);
  });
});

describe('the cached result for a token', () => {
  it('is read once for requests that arrive together, and for three seconds', async () => {
    const { tokens, issue, reads, clock } = world();
    const { token } = issue('anna');
    await Promise.all(Array.from({ length: 20 }, () => tokens.find(`Bearer ${token}`)));
    clock.now += 2_999;
    await tokens.find(`Bearer ${token}`);
    expect(reads).toHaveLength(1);
    clock.now += 2;
    await tokens.find(`Bearer ${token}`);
    expect(reads).toHaveLength(2);
  });

  it('changes on a node that knows it within three seconds, and at once where it was changed', async () => {
    const { tokens, open, issue, stored, clock } = world();
    const other = open();
    const { token, hmac } = issue('anna');
    const header = `Bearer ${token}`;
    await Promise.all([tokens.find(header), other.find(header)]);
    stored.delete(hmac);
    tokens.forget(({ name }) => name === 'anna');
    expect(await tokens.find(header)).toBeUndefined();
    expect(await other.find(header)).toBeDefined();
    clock.now += 3_001;
    expect(await other.find(header)).toBeUndefined();
  });

  it('of another token stays cached when this one is removed', async () => {
    const { tokens, issue, reads } = world();
    const [anna, ben] = [issue('anna'), issue('ben')];
    await Promise.all([anna, ben].map(({ token }) => tokens.find(`Bearer ${token}`)));
    tokens.forget(({ name }) => name === 'anna');
    await Promise.all([anna, ben].map(({ token }) => tokens.find(`Bearer ${token}`)));
    expect(reads.filter((hmac) => hmac === anna.hmac)).toHaveLength(2);
    expect(reads.filter((hmac) => hmac === ben.hmac)).toHaveLength(1);
  });

  it('is read again after a failed read, which fails for all its waiting callers', async () => {
    const { tokens, issue, database, stored } = world();
    const { token } = issue('anna');
    database.answer = () => Promise.reject(new Error('away'));
    const waiting = [1, 2, 3].map(() => tokens.find(`Bearer ${token}`));
    expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual(
      Array.from({ length: 3 }, () => 'rejected'),
    );
    database.answer = async (hmac) => stored.get(hmac);
    expect(await tokens.find(`Bearer ${token}`)).toMatchObject({ name: 'anna' });
  });

  it('is empty if the database returns a different token', async () => {
    const { tokens, issue, database } = world();
    const { token } = issue('anna');
    database.answer = async () => ({ hmac: 'of another', name: 'eve' });
    expect(await tokens.find(`Bearer ${token}`)).toBeUndefined();
  });
});

it('texts are equal only if all of their characters are, whatever their lengths', () => {
  expect(sameText('', '')).toBe(true);
  expect(sameText('token', 'token')).toBe(true);
  for (const other of ['', 'toke', 'tokens', 'Token', 'töken']) expect(sameText('token', other)).toBe(false);
});

it('what follows Bearer is printable ASCII', () => {
  expect(bearerToken('Bearer a.b-c_d~e+f/g=')).toBe('a.b-c_d~e+f/g=');
  for (const header of ['Bearer ', 'Bearer é', 'Bearer a b', 'Bearer \u0000', undefined])
    expect(bearerToken(header)).toBeUndefined();
});
