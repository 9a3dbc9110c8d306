import { Buffer } from 'node:buffer';
import type { Db } from 'mongodb';
import { durable, ensureIndexes, expiring, openCollection } from './mongo.ts';
import { toSealed, toSealedDocument, type SealedDocument, type Sealing } from './sealed-document.ts';

interface BodyDocument {
  /** `<made>/<n>` */
  readonly _id: string;
  readonly sealed: SealedDocument;
  readonly expires: Date;
}

/** Well below MongoDB's limit of 16 MB, because Latin-1 text can double in size as UTF-8. */
const documentBytes = 4 * 1024 * 1024;

/**
 * Keeps response bodies, so that a repeated request gets the same response. A large body is split into several
 * documents.
 */
export function createAnswerBodyStore(db: Db, { seal, open }: Sealing) {
  const bodies = openCollection<BodyDocument>(db, 'image_result_bodies', durable);
  return {
    ensureIndexes: () => ensureIndexes(bodies, [expiring]),

    async write(answer: {
      readonly made: string;
      readonly body: readonly Uint8Array[];
      readonly expires: Date;
    }): Promise<number> {
      const { made, body, expires } = answer;
      let documents = 0;
      for (const data of cut(body)) {
        const _id = bodyId(made, documents);
        const sealed = toSealedDocument(seal(placeOf(_id), data.toString('latin1')));
        await bodies.replaceOne({ _id }, { sealed, expires }, { upsert: true });
        documents += 1;
      }
      return documents;
    },

    async removeMany(made: readonly string[]): Promise<void> {
      for (const id of made) await bodies.deleteMany({ _id: { $gte: `${id}/`, $lt: `${id}/:` } });
    },

    async read(made: string, documents: number): Promise<Uint8Array[]> {
      const parts: Uint8Array[] = [];
      for (let n = 0; n < documents; n += 1) {
        const _id = bodyId(made, n);
        const found = await bodies.findOne({ _id });
        if (found === null) throw new Error(`part ${n} of the response of ${made} is missing`);
        parts.push(Buffer.from(open(placeOf(_id), toSealed(found.sealed)), 'latin1'));
      }
      return parts;
    },
  };
}

const placeOf = (id: string) => ({ purpose: 'answer', id }) as const;

function bodyId(made: string, n: number): string {
  return `${made}/${n}`;
}

/** Works piece by piece, so that no more than one piece is in memory twice. */
function* cut(parts: readonly Uint8Array[]): Generator<Buffer> {
  let piece: Uint8Array[] = [];
  let bytes = 0;
  for (const part of parts) {
    let rest = part;
    while (rest.length > 0) {
      const slice = rest.subarray(0, documentBytes - bytes);
      rest = rest.subarray(slice.length);
      piece.push(slice);
      bytes += slice.length;
      if (bytes < documentBytes) continue;
      yield Buffer.concat(piece);
      piece = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield Buffer.concat(piece);
}
