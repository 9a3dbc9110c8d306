import { createServer } from 'node:http';
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The names in `headers` are in lower case. `body` contains the raw bytes. `now` is in Unix seconds. */
export function isGenuine(headers, body, secret, now = Date.now() / 1000) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  // Reject old messages, because an attacker could have recorded them to send them again.
  if (!(Math.abs(now - Number(timestamp)) <= 300)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  return String(signatures)
    .split(' ')
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => Buffer.from(signature.slice(3), 'base64'))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}

/**
 * The gateway may send a message more than once. In production, store these ids in the database, together
 * with the effects of the message.
 */
const seen = new Set();
const bodyBytesMax = 1_000_000;

const server = createServer(async (request, response) => {
  try {
    const parts = [];
    let bytes = 0;
    for await (const part of request) {
      bytes += part.length;
      if (bytes > bodyBytesMax) {
        response.writeHead(413).end();
        return;
      }
      parts.push(part);
    }
    const body = Buffer.concat(parts);
    if (!isGenuine(request.headers, body, process.env.WEBHOOK_SECRET)) {
      response.writeHead(401).end();
      return;
    }
    response.writeHead(204).end();
    const id = request.headers['webhook-id'];
    if (seen.has(id)) return;
    seen.add(id);
    const task = JSON.parse(body);
    console.log(`${task.id} ${task.status} ${task.video_url ?? task.error?.message ?? ''}`);
  } catch {
    response.destroy();
  }
});
server.listen(Number(process.env.PORT ?? 9000), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
