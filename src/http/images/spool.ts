import { open, type FileHandle } from 'node:fs/promises';
import { GatewayError } from '../../errors/errors.ts';
import type { BodyAllowance } from '../bodies/body-budget.ts';
import type { ImageWorkspace } from '../../images/workspace.ts';
import { UploadedFile } from '../../intake/uploaded-file.ts';

export interface SpoolFile {
  readonly bytes: number;
  append(bytes: Buffer): void;
  uploaded(name: string): UploadedFile;
}

export interface Spool {
  newFile(param: string): SpoolFile;
  /** Whether enough bytes are waiting for a write. Smaller writes would cost more than their bytes. */
  readonly isFull: boolean;
  flush(): Promise<void>;
  close(): Promise<void>;
}

interface OpenFile extends SpoolFile {
  readonly path: string;
  readonly queue: Buffer[];
  handle?: FileHandle;
}

const writtenBytesMin = 32 * 1024;

export interface SpoolLimits {
  readonly filesMax: number;
  readonly disk: Pick<BodyAllowance, 'reserve'>;
}

export function openSpool(workspace: ImageWorkspace, { filesMax, disk }: SpoolLimits): Spool {
  const files: OpenFile[] = [];
  const counts = { image: 0, mask: 0 };
  let writing = Promise.resolve();
  let writtenBytes = 0;
  return {
    newFile(param) {
      const kind = /^mask/i.test(param) ? 'mask' : 'image';
      counts[kind] += 1;
      if (counts.image > filesMax || counts.mask > 1) throw tooManyFiles(filesMax, kind);
      const file = newSpoolFile(workspace.newPath(), disk);
      files.push(file);
      return file;
    },
    get isFull() {
      return files.reduce((sum, { bytes }) => sum + bytes, 0) - writtenBytes >= writtenBytesMin;
    },
    flush() {
      writtenBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
      writing = writing.then(() => writeQueued(files, workspace));
      return writing;
    },
    async close() {
      // `flush` reports this error to its caller.
      await writing.catch(() => undefined);
      for (const { handle } of files) await handle?.close();
    },
  };
}

async function writeQueued(files: readonly OpenFile[], workspace: ImageWorkspace): Promise<void> {
  for (const file of files) {
    const waiting = file.queue.splice(0);
    if (waiting.length === 0) continue;
    file.handle ??= await openNew(file.path, workspace);
    // Unlike `write`, this repeats a write that a nearly full disk has cut short.
    await file.handle.appendFile(Buffer.concat(waiting));
  }
}

async function openNew(path: string, workspace: ImageWorkspace): Promise<FileHandle> {
  await workspace.make();
  return open(path, 'wx', 0o600);
}

function newSpoolFile(path: string, disk: SpoolLimits['disk']): OpenFile {
  let bytes = 0;
  // Create empty files as well. Whether a file is an image is checked later.
  const queue: Buffer[] = [Buffer.alloc(0)];
  return {
    path,
    queue,
    get bytes() {
      return bytes;
    },
    append(piece) {
      if (piece.length === 0) return;
      disk.reserve(piece.length);
      bytes += piece.length;
      queue.push(piece);
    },
    uploaded: (name) => new UploadedFile(path, name, bytes),
  };
}

function tooManyFiles(filesMax: number, param: string): GatewayError {
  return new GatewayError(
    'request_too_large',
    `A request may contain at most ${filesMax} files in addition to a mask.`,
    { param },
  );
}
