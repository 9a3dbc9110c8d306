import { open, rename, rm } from 'node:fs/promises';
import { CommandError } from './command-error.ts';

export async function replaceFile(path: string) {
  const refuse = cannotWrite(path);
  const part = `${path}.part`;
  const file = await open(part, 'w').catch(refuse);
  return {
    write: (piece: string | Uint8Array): Promise<void> => file.writeFile(piece).catch(refuse),
    async complete(): Promise<void> {
      await file.sync();
      await rename(part, path).catch(refuse);
    },
    async close(): Promise<void> {
      await file.close();
      await rm(part, { force: true });
    },
  };
}

export function cannotWrite(path: string) {
  return (error: unknown): never => {
    throw new CommandError('failed', `${path} cannot be written: ${String(error)}`, { cause: error });
  };
}
