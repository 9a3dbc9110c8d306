import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { listen, listener } from './listen.ts';

export interface PortTaker {
  readonly taken: readonly number[];
  before(program: string): Promise<string>;
  /** Options that make the taker occupy the port of an API, or of any Node process with a port among its arguments. */
  readonly nodeOptions: string;
}

/**
 * NODE_OPTIONS loads this script. An API learns its port from a message, so its first `listen` waits until the port has
 * been taken.
 */
const asking = `
import { Server } from 'node:net';
const ask = (port) => fetch(TAKER, { method: 'POST', body: String(port) });
const words = process.argv.slice(1);
const port = words.includes('--port') ? words[words.indexOf('--port') + 1] : words.at(-1);
if (/^\\d+$/.test(port ?? '')) await ask(port);
const { listen } = Server.prototype;
if (words.includes('api'))
  Server.prototype.listen = function (...args) {
    void ask(args[0]?.port ?? args[0]).then(() => listen.apply(this, args));
    return this;
  };
`;

export async function startPortTaker(): Promise<PortTaker> {
  const directory = await mkdtemp(join(tmpdir(), 'mediary-port-taker-'));
  const taken: number[] = [];
  const takers: Server[] = [];
  const control = createHttpServer(
    listener(async (request, response) => {
      const port = await text(request);
      if (taken.length === 0) {
        taken.push(Number(port));
        const taker = createServer().listen(Number(port), '127.0.0.1');
        takers.push(taker);
        await once(taker, 'listening');
      }
      response.end();
    }),
  );
  const { url, close } = await listen(control);
  onTestFinished(async () => {
    for (const taker of takers) taker.close();
    await close();
    await rm(directory, { recursive: true, force: true });
  });
  const script = join(directory, 'ask.mjs');
  await writeFile(script, asking.replace('TAKER', `'${url}'`));
  return {
    taken,
    async before(program) {
      const wrapper = join(directory, 'program');
      await writeFile(wrapper, `#!/bin/sh\n'${process.execPath}' '${script}' "$@"\nexec '${program}' "$@"\n`);
      await chmod(wrapper, 0o700);
      return wrapper;
    },
    nodeOptions: `--import=${script}`,
  };
}
