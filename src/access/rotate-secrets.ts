import type { HeldKeys, SealedPlace } from '../store/sealed-places.ts';
import { SealError, type Sealer } from './sealer.ts';

export interface RotationReport {
  readonly keyId: string;
  readonly rewritten: number;
  readonly left: ReadonlyMap<string, number>;
}

export interface RotationOptions {
  readonly places: readonly SealedPlace[];
  readonly sealer: Sealer;
  readonly onProgress: (line: string) => void;
}

const progressDocuments = 10_000;

/**
 * Reseals everything that is not sealed with the first key, then counts what is left. A value is left if its key is
 * missing, if it is damaged, or if another process has just sealed it. Idempotent. Runs may overlap.
 */
export async function rotateSecrets(options: RotationOptions): Promise<RotationReport> {
  const { places, sealer, onProgress } = options;
  const { keyId } = sealer;
  let seen = 0;
  let rewritten = 0;
  for await (const holder of holdersIn(places)) {
    seen += 1;
    if (seen % progressDocuments === 0) onProgress(`${seen} documents, ${rewritten} rewritten…`);
    if (holder.keyIds.some((one) => one !== keyId) && (await rewrite(holder, options))) rewritten += 1;
  }
  return { keyId, rewritten, left: await countOthers(places, keyId) };
}

async function rewrite({ place, id }: Holder, { sealer, onProgress }: RotationOptions): Promise<boolean> {
  const { name } = place;
  try {
    return await place.rewrite(id, (at, sealed) => sealer.seal(at, sealer.open(at, sealed)));
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    onProgress(`${name} ${id}: ${error.message}`);
    return false;
  }
}

async function countOthers(places: readonly SealedPlace[], keyId: string): Promise<Map<string, number>> {
  const left = new Map<string, number>();
  for await (const { keyIds } of holdersIn(places)) {
    for (const one of keyIds.filter((id) => id !== keyId)) left.set(one, (left.get(one) ?? 0) + 1);
  }
  return left;
}

interface Holder extends HeldKeys {
  readonly place: SealedPlace;
}

async function* holdersIn(places: readonly SealedPlace[]): AsyncGenerator<Holder> {
  for (const place of places) {
    let page = await place.page();
    while (page.length > 0) {
      for (const holder of page) yield { ...holder, place };
      page = await place.page(page.at(-1)?.id);
    }
  }
}
