/** One thing that a client must be able to do against a deployment. */
export interface Check {
  readonly name: string;
  /**
   * What it may cost: one image (no more than this client's first check, whatever is lost on the way), some, or nothing.
   */
  readonly cost: 'one' | 'some' | 'nothing';
  /** Throws what is wrong. */
  run(target: Target): Promise<void>;
}

export interface Target {
  /** `https://…/v1`. */
  readonly baseUrl: string;
  readonly key: string;
  /** An image model that answers synchronously and takes several reference images. */
  readonly model: string;
  /** A video model; absent: no video is made. */
  readonly videoModel?: string;
  /** Fields for every request, such as `quality: low`. */
  readonly fields: Readonly<Record<string, string>>;
  /** An address that forwards to `baseUrl` and loses the first answer. New at each call. */
  lossyUrl(): string;
  /** An address that never answers. */
  readonly silentUrl: string;
}

/** Either the checks of a client, or why it is left out. */
export type Client =
  | { readonly name: string; readonly checks: readonly Check[] }
  | { readonly name: string; readonly skipped: string };

export const prompt = 'a red cube on a white table';

export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
}

/** @throws {CheckFailed} */
export function must(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new CheckFailed(otherwise);
}

/** Runs what is to be refused. @throws {CheckFailed} if it is not. */
export async function refusalOf(action: () => Promise<unknown>): Promise<Readonly<Record<string, unknown>>> {
  try {
    await action();
  } catch (error) {
    if (typeof error === 'object' && error !== null) return { ...error, thrown: error };
    throw error;
  }
  throw new CheckFailed('it was not refused');
}
