import { randomBytes } from 'node:crypto';
import { pngHeader } from '../../test/images/support.ts';
import { hostileCorpus } from '../../test/support/hostile-corpus.ts';
import { pipelinedCopies, wireOf, type Framing, type WireRequest } from '../../test/support/hostile-wire.ts';
import { attacksOnPlaces } from './attacks-on-places.ts';
import { kibibyte, mebibyte, answeredWithinMs, onLanes, fire, drip, withKey, firstKey } from './scene.ts';
import { get, document, json, create } from './scene.ts';
import type { Attack, Scene } from './scene.ts';

const corpusConnections = [1, 8, 80];
const framingNames: Readonly<Record<Framing, string>> = {
  length: 'whole',
  chunks: 'in chunks',
  bytes: 'in bytes',
  'spaced bytes': 'in spaces and bytes',
};

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

const callback: WireRequest = {
  path: `/callbacks/upstream/task_${'0'.repeat(22)}/${'0'.repeat(32)}`,
  headers: json,
};

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

/** The sizes in mebibytes that these bodies announce. Together, they equal what the process accepts for all bodies. */
const announcedMebibytes = [64, 16];
const uploadBytesPerSecond = 9_000;

function* unendingUpload(key: string, bytes: number): Generator<Buffer> {
  const headers = { 'content-type': 'multipart/form-data; boundary=x', 'content-length': String(bytes) };
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
  ...attacksOnPlaces,
  headers,
  creates,
  ...corpusAttacks,
];
