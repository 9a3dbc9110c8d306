import { setTimeout as delay } from 'node:timers/promises';
import { closeOnSignal } from '../../../../workshop/stand/close-on-signal.ts';

const say = (word: string): boolean => process.stdout.write(`${word}\n`);
closeOnSignal(async () => {
  say('closing');
  await delay(300);
  say('closed');
});
say('ready');
setInterval(() => undefined, 1_000);
