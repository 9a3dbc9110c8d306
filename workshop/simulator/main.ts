import { parseArgs } from 'node:util';
import { simulatorApiKey } from '../../src/config/local-mode.ts';
import { startSimulator } from './simulator.ts';

/**
 * Runs the simulated upstreams of `npm start`. Arguments: `--port N --state-file FILE`. Jobs in that file survive a
 * restart.
 */
const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, 'state-file': { type: 'string', default: '' } },
});
await startSimulator({
  host: '127.0.0.1',
  port: Number(values.port),
  apiKeys: [simulatorApiKey],
  stateFile: values['state-file'],
});
