import { startChild } from '../../../../src/local/servers/process.ts';

/** Starts a child that would outlive it, prints its pid, and waits to be killed. */
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
