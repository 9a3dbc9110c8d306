import type { MediaFacts } from './media-facts.ts';

/** A file that an account has stored for use in requests. Times are in Unix milliseconds. */
export interface UserFile {
  /** `file_…` */
  readonly id: string;
  readonly account: string;
  /** The public id of the key that stored the file. */
  readonly key: string;
  /** The file's name in storage, below its id: `0.<extension>`. */
  readonly name: string;
  /** The original name, as the sender specified it. */
  readonly filename: string;
  readonly purpose: string;
  readonly bytes: number;
  readonly media: MediaFacts;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** The form in which requests refer to the account's own files. */
const reference = /^asset:\/\/(file_[0-9A-Za-z]{24})$/i;

/** Returns undefined for any other kind of address. */
export function fileIdOf(url: string): string | undefined {
  return reference.exec(url)?.[1];
}
