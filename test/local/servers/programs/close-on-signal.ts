import { setTimeout as delay } from 'node:timers/promises';
import { closeOnSignal } from '../../../../workshop/stand/close-on-signal.ts';

/** Prints when it is ready, when it begins to close, and when it has closed. */
const say = (word: string): boolean => process.stdout.write(`${word}\n`);
closeOnSignal(async () => {
  say('closing');
  await delay(300);
  say('closed');
});
say('ready');
setInterval(() => undefined, 1_000);
