import { createServer } from 'node:http';
import { startSimulator } from '../simulator/simulator.ts';

/**
 * Everything outside the gateway in one process: the upstream simulator, and a receiver that accepts all callbacks.
 * Arguments: the simulator's port, its API key, the render time in seconds, the receiver's port.
 */
const [port, apiKey = '', renderSeconds, receiverPort] = process.argv.slice(2);
await startSimulator({
  host: '127.0.0.1',
  port: Number(port),
  apiKeys: [apiKey],
  renderSeconds: Number(renderSeconds),
  jobsAtOnceMax: 100_000,
});
createServer((incoming, answer) => {
  incoming.resume();
  incoming.once('end', () => answer.writeHead(204).end());
}).listen(Number(receiverPort), '127.0.0.1');
