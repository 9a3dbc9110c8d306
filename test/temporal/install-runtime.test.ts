import { expect, it } from 'vitest';
import { runProgram } from '../local/servers/programs/run-program.ts';

it('if the port for the runtime’s metrics is taken after it was chosen, another port is used', async () => {
  const { line } = await runProgram(new URL('./programs/taken-metrics-port.ts', import.meta.url));
  const { taken, url, status } = JSON.parse(line);
  expect(status).toBe(200);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  expect(url).not.toBe(taken);
});
