import type { MediaFacts } from './media-facts.ts';

export interface UserFile {
  readonly id: string;
  readonly account: string;
  readonly key: string;
  /** The storage name below the id: `0.<extension>`. */
  readonly name: string;
  readonly filename: string;
  readonly purpose: string;
  readonly bytes: number;
  readonly media: MediaFacts;
  readonly createdAt: number;
  readonly expiresAt: number;
}

const reference = /^asset:\/\/(file_[0-9A-Za-z]{24})$/i;

export function fileIdOf(url: string): string | undefined {
  return reference.exec(url)?.[1];
}
