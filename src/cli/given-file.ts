import { readFile } from 'node:fs/promises';
import { CommandError } from './command-error.ts';

export async function textOfFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new CommandError('usage', `${file} cannot be read.`, { cause });
  }
}
