import { choosePort } from '../../../../src/local/servers/ports.ts';

process.stdout.write(`${await choosePort('any', 'a test')}\n`);
setInterval(() => undefined, 1_000);
