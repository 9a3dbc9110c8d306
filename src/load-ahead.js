import { once } from 'node:events';
import './typescript.js';

/**
 * Loads the code of `gateway api` or `gateway worker`, but runs it only when a message with the environment arrives.
 * `npm start` needs this, because it knows the settings only after its servers are running.
 */

const end = () => process.exit();
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
