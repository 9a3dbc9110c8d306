import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import { startSimulator } from '../simulator/simulator.ts';
import { createRandom } from '../stand/random.ts';

/**
 * Everything outside the gateway in one process: the upstream simulator, a proxy in front of it that adds faults to a
 * share of the calls, and the callers' receiver. Arguments: the three ports, and the seed. `POST /_faults/<share>` on
 * the proxy sets the share, 0 to 1. `GET /received` on the receiver returns the `webhook-id`s by path.
 */

/** Faults that never affect the job itself. */
const faults = [
  '429=1', '500', '502', '503=1', 'slow=2', 'reset', 'timeout=4', 'malformed', 'empty', 'html',
  'accepted-500', 'accepted-502', 'accepted-then-silent=1', 'accepted-then-silent=6',
] as const; // prettier-ignore
const faultyCallbacks = 0.2;

const [simulatorPort, frontPort, receiverPort, seed] = process.argv.slice(2).map(Number);
const random = createRandom(seed ?? 0, 'outside');
const counts = { calls: 0, faulty: 0 };
let faultShare = 0;

await startSimulator({
  host: '127.0.0.1',
  port: simulatorPort ?? 0,
  apiKeys: ['simulated'],
  renderSeconds: 2,
  // The links that the simulator returns also lead through the proxy.
  publicUrl: `http://127.0.0.1:${frontPort}`,
});
createServer(front).listen(frontPort, '127.0.0.1');

function front(incoming: IncomingMessage, response: ServerResponse): void {
  const { url = '/', method, headers } = incoming;
  if (url.startsWith('/_faults')) {
    faultShare = Number(url.split('/')[2] ?? faultShare);
    response.writeHead(200).end(JSON.stringify(counts));
    return;
  }
  counts.calls += 1;
  const isFaulty = random.next() < faultShare;
  if (isFaulty) counts.faulty += 1;
  const disturbed = isFaulty ? { ...headers, 'x-simulate': random.pick(faults) } : headers;
  const onward = forward(
    { host: '127.0.0.1', port: simulatorPort, path: url, method, headers: disturbed, agent: false },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.once('error', () => response.destroy());
    },
  );
  onward.once('error', () => response.destroy());
  incoming.pipe(onward);
}

const received = new Map<string, string[]>();
createServer((incoming, response) => {
  incoming.resume();
  const path = incoming.url ?? '/';
  if (path === '/received') {
    response.writeHead(200).end(JSON.stringify(Object.fromEntries(received)));
    return;
  }
  const ids = received.get(path) ?? [];
  const isFirst = ids.length === 0;
  received.set(path, [...ids, String(incoming.headers['webhook-id'])]);
  // Reject only a callback's first request. If the second one were rejected too, the third would come five minutes
  // later.
  incoming.once('end', () =>
    response.writeHead(isFirst && random.next() < faultyCallbacks ? 500 : 204).end(),
  );
}).listen(receiverPort, '127.0.0.1');
