import { Binary } from 'mongodb';
import type { Db } from 'mongodb';
import type { Base64Text } from '../models/stored-media.ts';
import { durable, ensureIndexes, expiring, openCollection } from './mongo.ts';

interface PartialImageDocument {
  /** `<task>/<n>` */
  readonly _id: string;
  /** Its base64. */
  readonly data: Binary;
  /** For MongoDB's TTL. */
  readonly expires: Date;
}

/** Below MongoDB's 16 MB; a larger one is left out. */
const base64BytesMax = 12 * 1024 * 1024;
const keptMs = 3_600_000;

/** Unfinished images of tasks, from the process that renders to the one whose caller watches. */
export type PartialImageStore = ReturnType<typeof createPartialImageStore>;

export function createPartialImageStore(db: Db, now: () => number) {
  const partials = openCollection<PartialImageDocument>(db, 'partial_images', durable);
  return {
    ensureIndexes: () => ensureIndexes(partials, [expiring]),

    async write(task: string, n: number, image: Base64Text): Promise<void> {
      const data = Buffer.concat(typeof image === 'string' ? [Buffer.from(image)] : image.chunks);
      if (data.length > base64BytesMax) return;
      const kept = { data: new Binary(data), expires: new Date(now() + keptMs) };
      await partials.replaceOne({ _id: `${task}/${n}` }, kept, { upsert: true });
    },

    /** Undefined: there is none yet. */
    async find(task: string, n: number): Promise<Buffer | undefined> {
      const found = await partials.findOne({ _id: `${task}/${n}` });
      return found === null ? undefined : Buffer.from(found.data.value());
    },
  };
}
