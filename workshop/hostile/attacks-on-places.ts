import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { hostileFilms } from '../../test/media/hostile-films.ts';
import { listen } from '../../test/support/listen.ts';
import { wireOf } from '../../test/support/hostile-wire.ts';
import { answeredWithinMs, dripEveryMs, onLanes, fire, withKey, firstKey, get, document } from './scene.ts';
import { create } from './scene.ts';
import type { Attack, Scene } from './scene.ts';

const guessesAtOnce = 100;
const guessConnections = 8;

function guesses(name: string, path: string, token: () => string): Attack {
  const lane = async (scene: Scene): Promise<void> => {
    const wire = await scene.open();
    for (let sent = guessesAtOnce; wire.isOpen() && !scene.signal.aborted; sent += guessesAtOnce) {
      const many = Array.from({ length: guessesAtOnce }, () => [
        ...wireOf(withKey(get(path), token()), 'length'),
      ]);
      await wire.write(Buffer.concat(many.flat()));
      if (!(await wire.answered(sent, answeredWithinMs))) break;
    }
    wire.destroy();
  };
  return { name, hasBodies: false, parts: [(scene) => onLanes(scene, guessConnections, () => lane(scene))] };
}

const guessAttacks: readonly Attack[] = [
  guesses('guesses of operators’ tokens', '/admin/v1/accounts', () => randomBytes(16).toString('hex')),
  guesses('guesses of keys', '/v1/models', () => `sk-${randomBytes(25).toString('hex')}0`),
].flatMap((attack): Attack[] => [
  attack,
  { ...attack, name: `${attack.name}, shared address`, isFromVictimsAddress: true },
]);

const slowReaders = 800;

const slowReadersAttack: Attack = {
  name: `slow readers of a public file, ${slowReaders} connections`,
  hasBodies: false,
  secondsLeast: 6,
  parts: [
    (scene) =>
      onLanes(scene, slowReaders, async () => {
        const wire = await scene.open(false);
        await wire.write(
          Buffer.concat(Array.from({ length: 6 }, () => [...wireOf(document, 'length')]).flat()),
        );
        while (wire.isOpen() && !scene.signal.aborted) await delay(dripEveryMs);
        wire.destroy();
      }),
  ],
};

const film = hostileFilms['a fragment of a billion frames'] ?? Buffer.alloc(0);

function* fileForm(): Generator<Buffer> {
  yield Buffer.from('--x\r\ncontent-disposition: form-data; name="file"; filename=a.mp4\r\n\r\n');
  yield film;
  yield Buffer.from('\r\n--x--\r\n');
}

const films: Attack = {
  name: 'films that claim a billion frames, 6 connections',
  hasBodies: true,
  secondsLeast: 6,
  parts: [
    (scene) =>
      onLanes(scene, 6, () => {
        const headers = { 'content-type': 'multipart/form-data; boundary=x' };
        const request = withKey({ path: '/v1/files', headers, pieces: fileForm }, firstKey(scene));
        return fire(scene, { request, framing: 'length' });
      }),
  ],
};

const hangingCallbacks: Attack = {
  name: 'callbacks to a receiver that hangs',
  hasBodies: false,
  secondsLeast: 8,
  parts: [
    async (scene) => {
      const receiver = await listen(createServer(() => undefined));
      const metadata = { callback_url: `${receiver.url}/` };
      const text = JSON.stringify({ model: 'seedance', prompt: 'a paper boat', duration: 5, metadata });
      await onLanes(scene, 4, () => {
        const request = withKey({ ...create, pieces: () => [text] }, firstKey(scene));
        return fire(scene, { request, framing: 'length' });
      });
      await receiver.close();
    },
  ],
};

const listed = ['/v1/videos/generations?limit=100', '/v1/usage', '/v1/files?limit=100', '/v1/statement'];

const lists: Attack = {
  name: 'lists and usage of an account, 120 connections',
  hasBodies: false,
  secondsLeast: 8,
  parts: [
    (scene) => {
      const text = JSON.stringify({ model: 'seedance', prompt: 'a paper boat', duration: 5 });
      const request = withKey({ ...create, pieces: () => [text] }, firstKey(scene));
      return onLanes(scene, 8, () => fire(scene, { request, framing: 'length' }));
    },
    (scene) =>
      onLanes(scene, 120, (lane) => {
        const path = listed[lane % listed.length] ?? '';
        const request = withKey(get(path), scene.keys[lane % scene.keys.length] ?? '');
        return fire(scene, { request, framing: 'length', copies: 4 });
      }),
  ],
};

export const attacksOnPlaces: readonly Attack[] = [
  ...guessAttacks,
  slowReadersAttack,
  films,
  hangingCallbacks,
  lists,
];
