import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { createOthersLookup } from '../../src/http-client/lookup.ts';

const address = [203, 0, 113, 7];
const types = { A: 1, AAAA: 28 };

/** Responds with one IPv4 address, except to names that contain `silent`. */
async function startNameServer() {
  let questions = 0;
  const server = createSocket('udp4', (message, peer) => {
    questions += 1;
    const question = message.subarray(12, message.indexOf(0, 12) + 5);
    if (question.includes('silent')) return;
    const isIpv4 = question.readUInt16BE(question.length - 4) === types.A;
    const head = Buffer.from([...message.subarray(0, 2), 0x81, 0x80, 0, 1, 0, isIpv4 ? 1 : 0, 0, 0, 0, 0]);
    const answer = Buffer.from([0xc0, 12, 0, types.A, 0, 1, 0, 0, 0, 60, 0, 4, ...address]);
    server.send(Buffer.concat([head, question, ...(isIpv4 ? [answer] : [])]), peer.port, peer.address);
  }).bind(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { servers: [`127.0.0.1:${server.address().port}`], questions: () => questions };
}

const isPending = (lookup: Promise<unknown>) => Promise.race([lookup, Promise.resolve('pending')]);

it('looks up names while the name servers of many others do not respond', async () => {
  const { servers } = await startNameServer();
  const lookup = createOthersLookup({ networks: [], servers });
  const silent = Array.from({ length: 50 }, (_, n) => lookup(`${n}.silent.example`));
  for (const each of silent) each.catch(() => undefined);
  expect(await lookup('prompt.example')).toEqual([address.join('.')]);
  expect(await Promise.all(silent.map(isPending))).toEqual(silent.map(() => 'pending'));
});

it('leaves the names that an operator has listed to the system', async () => {
  const { servers, questions } = await startNameServer();
  const lookup = createOthersLookup({ networks: ['localhost', '*.internal'], servers });
  expect(await lookup('localhost')).toContain('127.0.0.1');
  await expect(lookup('not-there.internal')).rejects.toThrow();
  expect(questions()).toBe(0);
  await lookup('listed.by.nobody.example');
  expect(questions()).toBeGreaterThan(0);
});

it('rejects if a name has no address', async () => {
  const closed = createSocket('udp4').bind(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address();
  closed.close();
  const lookup = createOthersLookup({ networks: [], servers: [`127.0.0.1:${port}`] });
  await expect(lookup('nowhere.example')).rejects.toThrow();
});
