import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { pngHeader } from '../../test/images/support.ts';
import { hostileCorpus } from '../../test/support/hostile-corpus.ts';
import { pipelinedCopies, shootOn, wireOf } from '../../test/support/hostile-wire.ts';
import type { Framing, WireConnection, WireRequest } from '../../test/support/hostile-wire.ts';
import type { Random } from '../soak/random.ts';

/** What one attacker has: an account's two keys, and connections that end with its time. */
export interface Scene {
  readonly keys: readonly string[];
  readonly random: Random;
  readonly signal: AbortSignal;
  /** `reads` false: what the service sends stays where it is. */
  open(reads?: boolean): Promise<WireConnection>;
}

export interface Attack {
  readonly name: string;
  /** The service may hold its bodies meanwhile. */
  readonly hasBodies: boolean;
  /** In less time it does not show. */
  readonly secondsLeast?: number;
  /** One after the other, each for its share of the time. */
  readonly parts: readonly ((scene: Scene) => Promise<void>)[];
}

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
const answeredWithinMs = 30_000;
const repeatAfterMs = 5;
const dripEveryMs = 50;

/** Does the same on so many connections, over and over. `lane`: their number. */
async function onLanes(
  { signal }: Scene,
  lanes: number,
  act: (lane: number) => Promise<void>,
): Promise<void> {
  const repeat = async (lane: number): Promise<void> => {
    while (!signal.aborted) {
      await act(lane);
      await delay(repeatAfterMs);
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => repeat(lane)));
}

interface Fire {
  readonly request: WireRequest;
  readonly framing: Framing;
  readonly copies?: number;
  readonly reads?: boolean;
}

async function fire(scene: Scene, { reads = true, ...shot }: Fire): Promise<void> {
  const wire = await scene.open(reads);
  await shootOn(wire, { ...shot, withinMs: answeredWithinMs });
  wire.destroy();
}

/** Sends what it is given little by little, until it is answered. */
async function drip(wire: WireConnection, bytes: Iterable<Buffer>, bytesPerSecond: number): Promise<void> {
  const size = Math.ceil((bytesPerSecond * dripEveryMs) / 1000);
  for (const piece of bytes) {
    for (let from = 0; from < piece.length; from += size) {
      if (!wire.isOpen() || wire.answers.length > 0) return;
      await wire.write(piece.subarray(from, from + size));
      await delay(dripEveryMs);
    }
  }
  await wire.answered(1, answeredWithinMs);
}

const withKey = (request: WireRequest, key: string): WireRequest => ({
  ...request,
  headers: { authorization: `Bearer ${key}`, ...request.headers },
});
const firstKey = ({ keys }: Scene): string => keys[0] ?? '';
const get = (path: string): WireRequest => ({ method: 'GET', path, headers: {} });

const corpusConnections = [1, 8, 80];
const framingNames: Readonly<Record<Framing, string>> = {
  length: 'whole',
  chunks: 'in chunks',
  bytes: 'in bytes',
  'spaced bytes': 'in spaces and bytes',
};

/** Bodies of the corpus, in the order of the seed. */
function corpusAttack(framing: Framing, hasKey: boolean, isPipelined: boolean): Attack {
  const lane = async (scene: Scene): Promise<void> => {
    const request = pickBody(scene, hasKey);
    const copies = isPipelined ? pipelinedCopies(request) : 1;
    await fire(scene, { request, framing, copies });
  };
  return {
    name: `corpus ${framingNames[framing]}${isPipelined ? ', pipelined' : ''}, ${hasKey ? 'key' : 'no key'}`,
    hasBodies: hasKey,
    parts: corpusConnections.map((count) => (scene) => onLanes(scene, count, () => lane(scene))),
  };
}

function pickBody(scene: Scene, hasKey: boolean): WireRequest {
  const request = scene.random.pick(hostileCorpus);
  return hasKey ? withKey(request, firstKey(scene)) : request;
}

const corpusDripBytesPerSecond = 20 * kibibyte;

function corpusDrip(hasKey: boolean): Attack {
  const lane = async (scene: Scene): Promise<void> => {
    const wire = await scene.open();
    await drip(wire, wireOf(pickBody(scene, hasKey), 'length'), corpusDripBytesPerSecond);
    wire.destroy();
  };
  return {
    name: `corpus dripping, ${hasKey ? 'key' : 'no key'}`,
    hasBodies: hasKey,
    parts: corpusConnections.map((count) => (scene) => onLanes(scene, count, () => lane(scene))),
  };
}

const either = [true, false];
const corpusAttacks: readonly Attack[] = [
  ...Object.keys(framingNames)
    .filter((name): name is Framing => name in framingNames)
    .flatMap((framing) =>
      either.flatMap((hasKey) => either.map((isPipelined) => corpusAttack(framing, hasKey, isPipelined))),
    ),
  ...either.map(corpusDrip),
];

/** As many spaces as the route takes, and then nothing. */
function* unendingBytes(request: WireRequest, bytes: number): Generator<Buffer> {
  const body = { ...request, pieces: () => [Buffer.alloc(bytes, ' ')] };
  const pieces = [...wireOf(body, 'bytes')];
  yield* pieces.slice(0, -1);
}

interface Unending {
  readonly bytes: number;
  readonly connections: number;
  readonly request: (scene: Scene) => WireRequest;
}

/** The bodies stay where they are until the service ends the connection. */
function unending({ bytes, connections, request }: Unending): Attack['parts'][number] {
  return (scene) =>
    onLanes(scene, connections, async () => {
      const wire = await scene.open();
      for (const piece of unendingBytes(request(scene), bytes)) {
        if (!wire.isOpen() || wire.answers.length > 0) break;
        await wire.write(piece);
      }
      await wire.answered(1, answeredWithinMs);
      wire.destroy();
    });
}

const json = { 'content-type': 'application/json' };
const callback: WireRequest = {
  path: `/callbacks/upstream/task_${'0'.repeat(22)}/${'0'.repeat(32)}`,
  headers: json,
};
const create: WireRequest = { path: '/v1/videos/generations', headers: json };

const byteAttacks: readonly Attack[] = [
  ...[8, 80].map((connections) => ({
    name: `callback in bytes, ${connections} connections`,
    hasBodies: false,
    secondsLeast: 6,
    parts: [unending({ bytes: 64 * kibibyte, connections, request: () => callback })],
  })),
  {
    name: 'create of 1 MiB in bytes, 4 connections, key',
    hasBodies: true,
    secondsLeast: 6,
    parts: [
      unending({
        bytes: mebibyte - kibibyte,
        connections: 4,
        request: (scene) => withKey(create, firstKey(scene)),
      }),
    ],
  },
];

interface Pipelined {
  readonly request: (scene: Scene) => WireRequest;
  readonly connections: number;
  /** Default: 4 MiB. */
  readonly bytes?: number;
  readonly reads?: boolean;
}

function pipelinedGet(name: string, options: Pipelined): Attack {
  const { request, connections, bytes, reads } = options;
  const lane = async (scene: Scene): Promise<void> => {
    const sent = request(scene);
    const [wire] = wireOf(sent, 'length');
    const copies = bytes === undefined ? pipelinedCopies(sent) : Math.ceil(bytes / (wire?.length ?? 1));
    await fire(scene, {
      request: sent,
      framing: 'length',
      copies,
      ...(reads === undefined ? {} : { reads }),
    });
  };
  return {
    name: `${name} pipelined, ${connections} connection${connections === 1 ? '' : 's'}`,
    hasBodies: false,
    parts: [(scene) => onLanes(scene, connections, () => lane(scene))],
  };
}

const document = get('/openapi.json');
const pipelinedAttacks: readonly Attack[] = [
  pipelinedGet('60 KB of /openapi.json', { request: () => document, connections: 1, bytes: 60 * kibibyte }),
  pipelinedGet('4 MB of /openapi.json', { request: () => document, connections: 1 }),
  pipelinedGet('4 MB of /openapi.json, not read,', { request: () => document, connections: 8, reads: false }),
  pipelinedGet('4 MB of /metrics', { request: () => get('/metrics'), connections: 2 }),
  pipelinedGet('4 MB of /healthz', { request: () => get('/healthz'), connections: 80 }),
  pipelinedGet('4 MB of /v1/models with a key', {
    request: (scene) => withKey(get('/v1/models'), firstKey(scene)),
    connections: 8,
  }),
];

/** Together they announce as much as the process takes of all bodies, and send 36 KB a second. */
const announcedMebibytes = [64, 16];
const uploadBytesPerSecond = 9_000;

function* unendingUpload(key: string, bytes: number): Generator<Buffer> {
  const headers = {
    'content-type': 'multipart/form-data; boundary=x',
    'content-length': String(bytes),
  };
  yield* wireOf({ ...withKey({ path: '/v1/images/edits', headers }, key) }, 'length');
  yield Buffer.from('--x\r\ncontent-disposition: form-data; name="image"; filename=a.png\r\n\r\n');
  yield pngHeader(10, 10);
  yield Buffer.alloc(bytes);
}

const uploads: Attack = {
  name: 'uploads of 160 MiB announced, 36 KB/s, two keys',
  hasBodies: true,
  secondsLeast: 8,
  parts: [
    async (scene) => {
      const all = scene.keys.flatMap((key) => announcedMebibytes.map((mebibytes) => ({ key, mebibytes })));
      await onLanes(scene, all.length, async (lane) => {
        const { key, mebibytes } = all[lane] ?? { key: '', mebibytes: 0 };
        const wire = await scene.open();
        await drip(wire, unendingUpload(key, mebibytes * mebibyte), uploadBytesPerSecond);
        wire.destroy();
      });
    },
  ],
};

const guessesAtOnce = 100;
const guessConnections = 8;

/** Every request with another token, many at once. */
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
];

function* unendingHeaders(): Generator<Buffer> {
  yield Buffer.from('GET /healthz HTTP/1.1\r\nhost: x\r\n');
  for (;;) yield Buffer.from(`x-${randomBytes(4).toString('hex')}: x\r\n`);
}

const headers: Attack = {
  name: 'headers that never end, 80 connections',
  hasBodies: false,
  parts: [
    (scene) =>
      onLanes(scene, 80, async () => {
        const wire = await scene.open();
        await drip(wire, unendingHeaders(), kibibyte);
        wire.destroy();
      }),
  ],
};

const spaces = Buffer.alloc(mebibyte - kibibyte, ' ');

/** More arrives than the service can hold back until it knows whose it is. */
const creates: Attack = {
  name: 'create of 1 MiB, 400 connections, key',
  hasBodies: true,
  parts: [
    (scene) =>
      onLanes(scene, 400, () =>
        fire(scene, {
          request: withKey({ ...create, pieces: () => [spaces] }, firstKey(scene)),
          framing: 'length',
        }),
      ),
  ],
};

export const attacks: readonly Attack[] = [
  ...byteAttacks,
  ...pipelinedAttacks,
  uploads,
  ...guessAttacks,
  headers,
  creates,
  ...corpusAttacks,
];
