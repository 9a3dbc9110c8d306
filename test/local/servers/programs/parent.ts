import { startChild } from '../../../../src/local/servers/process.ts';

const child = await startChild({
  dataDir: process.argv[2] ?? '',
  report: () => undefined,
  environment: process.env,
  name: 'sleeper',
  command: 'sleep',
  args: ['600'],
});
process.stdout.write(`${child.pid}\n`);
setInterval(() => undefined, 1_000);
