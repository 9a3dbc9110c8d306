import { z } from 'zod';

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

export const uploadedFile = z
  .custom<UploadedFile>((value) => value instanceof UploadedFile, { error: 'must be a file in a form' })
  .meta({ type: 'string', format: 'binary' });

export function hasFile(value: unknown): boolean {
  if (value instanceof UploadedFile) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasFile);
}
