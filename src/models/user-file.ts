import type { MediaFacts } from './media-facts.ts';

/** A file that an account has stored with us, for its requests. Times in Unix milliseconds. */
export interface UserFile {
  /** `file_…` */
  readonly id: string;
  readonly account: string;
  /** The public id of the key that stored the file. */
  readonly key: string;
  /** In the storage, below the id: `0.<extension>`. */
  readonly name: string;
  /** As its sender called it. */
  readonly filename: string;
  readonly purpose: string;
  readonly bytes: number;
  readonly media: MediaFacts;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** What stands in a request for one of the account's own files. */
const reference = /^asset:\/\/(file_[0-9A-Za-z]{24})$/i;

/** Undefined: it names something else. */
export function fileIdOf(url: string): string | undefined {
  return reference.exec(url)?.[1];
}
