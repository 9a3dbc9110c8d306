import { Buffer } from 'node:buffer';
import type { Db } from 'mongodb';
import type { Base64Text } from '../models/stored-media.ts';
import { durable, ensureIndexes, expiring, openCollection } from './mongo.ts';
import { toSealed, toSealedDocument, type SealedDocument, type Sealing } from './sealed-document.ts';

interface PartialImageDocument {
  /** `<task>/<n>` */
  readonly _id: string;
  readonly sealed: SealedDocument;
  readonly expires: Date;
}

/** Must stay below MongoDB's limit of 16 MB. Larger images are not kept. */
const base64BytesMax = 12 * 1024 * 1024;
const keptMs = 3_600_000;

export type PartialImageStore = ReturnType<typeof createPartialImageStore>;

export function createPartialImageStore(db: Db, now: () => number, { seal, open }: Sealing) {
  const partials = openCollection<PartialImageDocument>(db, 'partial_images', durable);
  return {
    ensureIndexes: () => ensureIndexes(partials, [expiring]),

    async write(task: string, n: number, image: Base64Text): Promise<void> {
      const text = typeof image === 'string' ? image : Buffer.concat(image.chunks).toString('latin1');
      if (text.length > base64BytesMax) return;
      const _id = `${task}/${n}`;
      const sealed = toSealedDocument(seal(placeOf(_id), text));
      await partials.replaceOne({ _id }, { sealed, expires: new Date(now() + keptMs) }, { upsert: true });
    },

    async find(task: string, n: number): Promise<string | undefined> {
      const _id = `${task}/${n}`;
      const found = await partials.findOne({ _id });
      return found === null ? undefined : open(placeOf(_id), toSealed(found.sealed));
    },
  };
}

const placeOf = (id: string) => ({ purpose: 'partial-image', id }) as const;
