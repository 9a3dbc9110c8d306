import { subscribe } from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';
import { join } from 'node:path';

const unheard: string[] = [];
const runtimeFrame = /\(?node:/;
const ownFolders = ['test', 'workshop'].map((folder) => join(import.meta.dirname, '../..', folder, '/'));

function watch(name: string, emitter: EventEmitter): void {
  // This error is cheap to create, because V8 formats the stack only when it is read.
  const opened = new Error(name);
  emitter.once('close', () => {
    if (emitter.listenerCount('error') > 0) return;
    const stack = opened.stack ?? '';
    if (name === 'socket' && stack.includes('node:_http_')) return;
    const [, ...frames] = stack.split('\n').filter((line) => !runtimeFrame.test(line));
    const caller = frames.find((line) => !line.includes('unheard-errors.ts'));
    if (caller !== undefined && ownFolders.some((folder) => caller.includes(folder)))
      unheard.push(`a ${name}${caller.trimStart().slice(2).replace(vitestQuery, '')}`);
  });
}

subscribe('net.client.socket', (message) => watch('socket', (message as { socket: EventEmitter }).socket));
subscribe('http.client.request.created', (message) =>
  watch('request', (message as { request: EventEmitter }).request),
);

/** vitest adds this to the URL of a test file if Node runs the file without vitest's module runner. */
const vitestQuery = /\?vitest=\d+/;

export function takeUnheard(): readonly string[] {
  return [...new Set(unheard.splice(0))];
}
