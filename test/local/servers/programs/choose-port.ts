import { choosePort } from '../../../../src/local/servers/ports.ts';

/** Chooses any port, prints it, and keeps running until it is killed. */
process.stdout.write(`${await choosePort('any', 'a test')}\n`);
setInterval(() => undefined, 1_000);
