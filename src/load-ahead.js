import { once } from 'node:events';
import './typescript.js';

/**
 * Runs `gateway api` or `gateway worker` with an environment received in a message, and loads its code beforehand.
 * `npm start` uses it: the settings are known only once its servers are running.
 */

const end = () => process.exit();
// The process that would send the environment has ended.
process.once('disconnect', end);
/** @type {Promise<unknown[]>} */
const received = once(process, 'message');
const [{ rawEnvironment }] = await Promise.all([
  import('./config/environment.ts'),
  import('./compose/core.ts'),
  import('./observability/log.ts'),
  ...(process.argv[2] === 'worker'
    ? [import('./worker.ts'), import('./temporal/install-runtime.ts')]
    : [import('./api.ts')]),
]);
const [environment] = await received;
process.removeListener('disconnect', end);
process.disconnect();
Object.assign(rawEnvironment(), environment);
await import('./gateway.js');
