import { StringDecoder } from 'node:string_decoder';
import { escaped } from '../base/plain-text.ts';
import type { AdminClient } from './admin-client.ts';
import type { CliContext } from './context.ts';
import type { Output } from './output.ts';
import { replaceFile } from './replace-file.ts';

interface Asked {
  readonly path: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly out: string | undefined;
}

interface Writing extends Pick<CliContext, 'print'> {
  readonly client: AdminClient;
  readonly output: Output;
}

export async function writeAnswer(
  { client, output, print }: Writing,
  { path, query, out }: Asked,
): Promise<void> {
  if (out === undefined) return printLines(print, (take) => client.read(path, query, take));
  const file = await replaceFile(out);
  try {
    await client.read(path, query, (bytes) => file.write(bytes));
    await file.complete();
  } finally {
    await file.close();
  }
  output.item({ written: out });
}

type Take = (bytes: Buffer) => Promise<void>;

async function printLines(print: CliContext['print'], read: (take: Take) => Promise<void>): Promise<void> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const printed = (text: string): void => print(escaped(text.replace(/\r$/, ''), { keepLines: false }));
  await read((bytes) => {
    const lines = (rest + decoder.write(bytes)).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(printed);
    return Promise.resolve();
  });
  if (rest !== '') printed(rest);
}
