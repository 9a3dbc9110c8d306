import { expect, it } from 'vitest';
import { NoRoomError, StorageAwayError } from '../../src/errors/not-stored.ts';
import { createResultForms } from '../../src/images/result-form.ts';
import { factsOfImages } from '../../src/images/call-channel.ts';
import { UnkeepableError } from '../../src/models/stored-media.ts';

const images = [{ base64: 'eA==' }];
const kept = { url: 'https://ours.example/0.png', stored: { name: '0.png' }, expiresAt: 1 } as never;
const asked = {
  image: 'img_a',
  channel: 'a',
  format: 'url',
  measuresLinks: false,
} as const;

const away = new StorageAwayError(new Error('connect ECONNREFUSED'));
const passing = [
  ['is full', new NoRoomError('full')],
  ['is away', away],
  ['has no record of its files, because MongoDB is away', new Error('no answer')],
] as const;

interface Storage {
  readonly refusals?: number;
  readonly error?: Error;
  readonly takesMs?: number;
  readonly reserve?: (bytes: number) => void;
}

async function delivered({ refusals = Infinity, error = away, takesMs = 0, ...asking }: Storage) {
  let [tries, clock] = [0, 0];
  const end = new AbortController();
  const pass = (ms: number): void => {
    clock += ms;
    if (clock >= 60_000) end.abort();
  };
  const forms = createResultForms({
    openLink: () => Promise.reject(new Error('not opened')),
    openStored: () => Promise.resolve(undefined),
    keepImages: () => {
      tries += 1;
      pass(takesMs);
      return tries > refusals ? Promise.resolve([kept]) : Promise.reject(error);
    },
    pause: (ms) => Promise.resolve(pass(ms)),
    timeLimit: () => end.signal,
  });
  const { reserve = () => undefined } = asking;
  const answer = forms.convert({ images, facts: factsOfImages(images) } as never, { ...asked, reserve });
  const outcome = await answer.catch((failed: unknown) => failed);
  return { outcome, tries, clock };
}

const isFinal = { code: 'provider_error', headers: { 'x-should-retry': 'false' } };

it.each(passing)('a rendered image is offered again to a storage that %s', async (_, error) => {
  const { outcome, tries } = await delivered({ refusals: 7, error });
  expect(tries).toBe(8);
  expect(outcome).toMatchObject({ images: [kept] });
});

it.each([0, 16_000])(
  'the rejection after a minute is final, because a repeat would be rendered and billed twice (%i ms per try)',
  async (takesMs) => {
    const { outcome, clock } = await delivered({ takesMs });
    expect(clock).toBeGreaterThanOrEqual(60_000);
    expect(clock).toBeLessThan(60_000 + 17_000);
    expect(outcome).toMatchObject(isFinal);
  },
);

it('the rejection by a process without memory for waiting images is final too', async () => {
  const full = new Error('every byte is in use');
  const { outcome, tries } = await delivered({
    reserve(bytes) {
      expect(bytes).toBe(4);
      throw full;
    },
  });
  expect(tries).toBe(1);
  expect(outcome).toMatchObject(isFinal);
});

it.each([
  ['only briefly, without memory for the images', true],
  ['for a minute, with it', false],
])('a storage that does not answer is waited for %s', async (_, isFull) => {
  const limits: number[] = [];
  const minute = new AbortController();
  const forms = createResultForms({
    openLink: () => Promise.reject(new Error('not opened')),
    openStored: () => Promise.resolve(undefined),
    keepImages: () => new Promise(() => undefined),
    timeLimit(ms) {
      limits.push(ms);
      return ms === 60_000 ? minute.signal : AbortSignal.abort();
    },
  });
  const reserve = () => {
    if (isFull) throw new Error('every byte is in use');
    setImmediate(() => minute.abort());
  };
  const answer = forms.convert({ images, facts: factsOfImages(images) } as never, { ...asked, reserve });
  await expect(answer).rejects.toMatchObject(isFinal);
  expect([minute.signal.aborted, limits]).toEqual([!isFull, [60_000, 5_000]]);
});

it('an image that can never be stored is not waited for', async () => {
  const { outcome, tries } = await delivered({ error: new UnkeepableError('an unknown type') });
  expect(tries).toBe(1);
  expect(outcome).toMatchObject(isFinal);
});

it.each([
  ['b64_json', 4],
  [undefined, 4],
  ['url', 0],
] as const)('data for a response in the form %s is counted, but never refused', async (format, bytes) => {
  const counted: number[] = [];
  const forms = createResultForms({
    openLink: () => Promise.reject(new Error('not opened')),
    openStored: () => Promise.resolve(undefined),
    keepImages: () => Promise.resolve([kept]),
  });
  const reserve = (more: number): never => {
    counted.push(more);
    throw new Error('no room');
  };
  const made = { images, facts: factsOfImages(images) } as never;
  const delivered = await forms.convert(made, { ...asked, format, reserve });
  expect(delivered.images).toHaveLength(1);
  expect(counted.reduce((sum, more) => sum + more, 0)).toBe(bytes);
});
