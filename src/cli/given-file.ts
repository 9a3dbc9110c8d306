import { readFile } from 'node:fs/promises';
import { CommandError } from './command-error.ts';

export async function textOfFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError('usage', `${file} cannot be read: ${why}.`, { cause });
  }
}
