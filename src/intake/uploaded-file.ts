import { z } from 'zod';

/** A file in a request, as received and not yet inspected. */
export class UploadedFile {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;

  constructor(path: string, name: string, bytes: number) {
    this.path = path;
    this.name = name;
    this.bytes = bytes;
  }
}

/** The schema for a file in a body, which was sent in a form. */
export const uploadedFile = z
  .custom<UploadedFile>((value) => value instanceof UploadedFile, { error: 'must be a file of a form' })
  .meta({ type: 'string', format: 'binary' });

/** Whether a form value contains a file at any depth. */
export function hasFile(value: unknown): boolean {
  if (value instanceof UploadedFile) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasFile);
}
