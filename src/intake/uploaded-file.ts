import { z } from 'zod';

/** A file of a request, unchanged and not inspected yet. */
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

/** In a body: a file of its form. */
export const uploadedFile = z
  .custom<UploadedFile>((value) => value instanceof UploadedFile, { error: 'must be a file of a form' })
  .meta({ type: 'string', format: 'binary' });

/** Whether a form value contains a file at any depth. */
export function hasFile(value: unknown): boolean {
  if (value instanceof UploadedFile) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasFile);
}
